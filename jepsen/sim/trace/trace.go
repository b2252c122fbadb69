// Package trace sums up what happens in a simulation, so that two runs can be compared.
package trace

import (
	"hash/crc32"
	"io"
	"strconv"
	"sync"
	"time"
)

// Trace is a running sum over everything that happened. Its methods may be called
// concurrently, and by a nil Trace, which keeps nothing.
type Trace struct {
	began time.Time

	mu     sync.Mutex
	sum    uint64           // guarded by mu
	notes  uint64           // guarded by mu
	counts map[string]int64 // guarded by mu; notes by kind
	lines  io.Writer        // guarded by mu; nil keeps only the sum
	drawn  func() uint64    // the state of the runtime's generator; nil if there is none
}

// New returns a trace that begins now. lines gets a line for each note; nil keeps only the
// sum. drawn returns the state of the generator of the schedule, which becomes part of the
// sum: two runs differ from the first step that was scheduled otherwise. It may be nil.
func New(lines io.Writer, drawn func() uint64) *Trace {
	return &Trace{began: time.Now(), sum: 0x9e3779b97f4a7c15, lines: lines, drawn: drawn, counts: map[string]int64{}}
}

// Note adds that something happened.
func (t *Trace) Note(kind, about string, numbers ...uint64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := uint64(time.Since(t.began))
	t.mix(now)
	t.mix(uint64(crc32.ChecksumIEEE([]byte(kind)))<<32 | uint64(crc32.ChecksumIEEE([]byte(about))))
	for _, n := range numbers {
		t.mix(n)
	}
	var state uint64
	if t.drawn != nil {
		state = t.drawn()
		t.mix(state)
	}
	t.notes++
	t.counts[kind]++
	if t.lines != nil {
		_, _ = t.lines.Write(line(now, kind, about, numbers, state)) // in memory: cannot fail
	}
}

// line formats a note without package fmt, whose pool takes a mutex: that would change the
// schedule of a run that is traced.
func line(now uint64, kind, about string, numbers []uint64, state uint64) []byte {
	b := strconv.AppendUint(nil, now, 10)
	b = append(append(append(append(b, ' '), kind...), ' '), about...)
	b = append(b, ' ', '[')
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, n, 16)
	}
	b = append(b, ']', ' ')
	return append(strconv.AppendUint(b, state, 16), '\n')
}

// Bytes returns a number for some bytes, for Note.
func Bytes(b []byte) uint64 { return uint64(len(b))<<32 | uint64(crc32.Checksum(b, castagnoli)) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mix adds a number to the sum. The caller holds mu.
func (t *Trace) mix(n uint64) {
	t.sum ^= n
	t.sum *= 0xff51afd7ed558ccd
	t.sum ^= t.sum >> 32
}

// Sum returns the sum so far, and the number of notes.
func (t *Trace) Sum() (sum, notes uint64) {
	if t == nil {
		return 0, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum, t.notes
}

// Count returns how often a kind was noted.
func (t *Trace) Count(kind string) int64 {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[kind]
}
