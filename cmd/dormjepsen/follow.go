package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// followEvery is the interval of the live line.
const followEvery = 500 * time.Millisecond

// follow draws a live line about the run whose history is at path, until stop is
// called. It reads the history file, so it shows only what has been recorded.
func (p *progress) follow(path string, long time.Duration) (stop func()) {
	if !p.terminal {
		return func() {}
	}
	stopping := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		f := newFollower(long)
		var tail tail
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				for _, line := range tail.read(path) {
					f.line(now, line)
				}
				p.draw(f.show(now))
			case <-stopping:
				tail.close()
				return
			}
		}
	})
	return func() {
		close(stopping)
		wait.Wait()
		p.draw("")
	}
}

// tail reads the new lines of a growing file.
type tail struct {
	file *os.File
	rest []byte // an incomplete line
}

// read returns the new lines. It returns none if the file does not exist yet.
func (t *tail) read(path string) [][]byte {
	if t.file == nil {
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		t.file = f
	}
	fresh, err := io.ReadAll(t.file)
	if err != nil {
		return nil // only the live line needs it
	}
	lines := bytes.Split(append(t.rest, fresh...), []byte("\n"))
	t.rest = lines[len(lines)-1]
	return lines[:len(lines)-1]
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close() // read only
	}
}

// follower is the state of a live line.
type follower struct {
	long   time.Duration
	began  time.Time // start of the fault phase; zero before
	phase  string
	leader string
	term   uint64
	faults map[int]string // :: step → name of the fault

	calls  int // number of calls that ended
	counts []count
}

// count is the number of ended calls at a time.
type count struct {
	at    time.Time
	calls int
}

// rateOver is the number of counts over which the rate is computed.
const rateOver = 4

func newFollower(long time.Duration) *follower {
	return &follower{long: long, faults: map[int]string{}}
}

// The prefixes of the relevant lines. Calls are counted without decoding.
var (
	isReturn = []byte(`{"return":`)
	isEvent  = []byte(`{"event":`)
)

// line adds a line of the history.
func (f *follower) line(now time.Time, raw []byte) {
	if bytes.HasPrefix(raw, isReturn) {
		f.calls++
		return
	}
	var l struct{ Event history.Event }
	if !bytes.HasPrefix(raw, isEvent) || json.Unmarshal(raw, &l) != nil {
		return
	}
	switch e := l.Event; e.Kind {
	case history.EventPhase:
		f.phase = e.Name
		if e.Name == check.PhaseFaults {
			f.began = now
		}
	case history.EventLeader:
		f.leader, f.term = e.Node, e.Term
	case history.EventFault:
		f.faults[e.Step] = e.Name
	case history.EventHeal:
		delete(f.faults, e.Step)
	default:
	}
}

// show returns the live line.
func (f *follower) show(now time.Time) string {
	f.counts = append(f.counts, count{now, f.calls})
	f.counts = f.counts[max(0, len(f.counts)-rateOver):]
	if f.phase == check.PhaseEnd {
		return "judging"
	}
	parts := []string{f.stands(now)}
	if first := f.counts[0]; now.After(first.at) && f.calls > 0 {
		parts = append(parts, fmt.Sprintf("%.0f calls/s", float64(f.calls-first.calls)/now.Sub(first.at).Seconds()))
	}
	if f.leader != "" {
		parts = append(parts, fmt.Sprintf("%s leads in term %d", f.leader, f.term))
	}
	if len(f.faults) > 0 {
		on := slices.Sorted(maps.Values(f.faults))
		parts = append(parts, "faults: "+strings.Join(on, ", "))
	}
	return strings.Join(parts, " · ")
}

// stands returns the progress of the run.
func (f *follower) stands(now time.Time) string {
	switch f.phase {
	case "", check.PhaseStart:
		return "starting the cluster"
	case check.PhaseFaults:
		return fmt.Sprintf("%.0fs left", max(f.long-now.Sub(f.began), 0).Seconds())
	case check.PhaseHeal:
		return "healed, settling"
	default:
		return "final reads"
	}
}
