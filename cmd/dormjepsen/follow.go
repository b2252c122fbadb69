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

// followEvery is how often the live line is drawn.
const followEvery = 500 * time.Millisecond

// follow draws a live line of the run whose history is being written at path,
// until the function that it returns is called. It reads the history itself:
// what is shown is what is on file.
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

// tail reads the lines that a file grows by.
type tail struct {
	file *os.File
	rest []byte // of a line that is not whole yet
}

// read returns the lines that are new. A file that is not there yet has none.
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
		return nil // it is for show only
	}
	lines := bytes.Split(append(t.rest, fresh...), []byte("\n"))
	t.rest = lines[len(lines)-1]
	return lines[:len(lines)-1]
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close() // it was only read
	}
}

// follower is what a live line tells of a run.
type follower struct {
	long   time.Duration
	began  time.Time // of the faults; zero before
	phase  string
	leader string
	term   uint64
	faults map[int]string // :: step → its name

	calls  int // that ended
	counts []count
}

// count is how many calls had ended at an instant.
type count struct {
	at    time.Time
	calls int
}

// rateOver is the time over which a rate is taken.
const rateOver = 4

func newFollower(long time.Duration) *follower {
	return &follower{long: long, faults: map[int]string{}}
}

// The beginnings of the lines that matter here; the calls themselves are not
// decoded.
var (
	isReturn = []byte(`{"return":`)
	isEvent  = []byte(`{"event":`)
)

// line takes in a line of the history.
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

// show is the live line.
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

// stands is how far the run has got.
func (f *follower) stands(now time.Time) string {
	switch f.phase {
	case "", check.PhaseStart:
		return "making the cluster"
	case check.PhaseFaults:
		return fmt.Sprintf("%.0fs left", max(f.long-now.Sub(f.began), 0).Seconds())
	case check.PhaseHeal:
		return "healed, settling"
	default:
		return "final reads"
	}
}
