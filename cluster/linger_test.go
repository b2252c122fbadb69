package cluster_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// takes is how long an entry takes in these tests.
const takes = 4 * time.Millisecond

// slowly is a lone leader whose entries take their time.
func slowly(t *testing.T) *node {
	t.Helper()
	_, n := lone(t)
	n.machine.slow(takes)
	return n
}

// together calls submit and lets the commits that it submits share an entry. The
// proposer would otherwise cut an entry of the first of them, if it is scheduled
// before the others are submitted.
func (n *node) together(t *testing.T, submit func()) {
	t.Helper()
	resume, err := n.group.HoldProposer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	submit()
	resume()
}

// caller puts, thinks and puts again, so often.
func (n *node) caller(t *testing.T, name string, puts int, thinks time.Duration) {
	t.Helper()
	for i := range puts {
		if err := n.put(name, i); err != nil {
			t.Error(err)
		}
		time.Sleep(thinks)
	}
}

func TestCallersThatComeBackAtOnceShareTheNextEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := slowly(t)
		before := len(n.machine.entries())
		for i := range 8 {
			go n.caller(t, fmt.Sprint(i), 10, takes/10)
			if i == 3 {
				time.Sleep(takes / 2) // the first four are on their way alone
			}
		}
		time.Sleep(time.Second)
		entries := n.machine.entries()[before:]
		// Four, perhaps in two entries, with those that came meanwhile; then all eight.
		if got := len(entries); got > 12 {
			t.Errorf("80 commits took %d entries", got)
		}
		for i, e := range entries[2:9] {
			if len(e.Commits) != 8 {
				t.Errorf("entry %d has %d commits", i+2, len(e.Commits))
			}
		}
	})
}

func TestOneCallerIsNeverMadeToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := slowly(t)
		start := time.Now()
		n.caller(t, "x", 50, 0)
		if took := time.Since(start); took != 50*takes {
			t.Errorf("50 puts took %v", took)
		}
	})
}

func TestACommitWaitsForOthersNoLongerThanAMoment(t *testing.T) {
	for at, want := range map[time.Duration]time.Duration{
		takes + takes/8: takes/8 + takes, // within the moment, which is a quarter of what an entry takes
		takes + takes/4: takes,           // after it
		10 * takes:      takes,
	} {
		synctest.Test(t, func(t *testing.T) {
			n := slowly(t)
			n.together(t, func() {
				for range 3 { // who do not come back
					n.group.Submit(t.Context(), "", encode(command{Key: "a"}), func(agent.Decided, error) {})
				}
			})
			time.Sleep(at)
			start := time.Now()
			if err := n.put("b", 1); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != want {
				t.Errorf("at %v: took %v, not %v", at, took, want)
			}
		})
	}
}

// A burst comes shortly before the one before it is answered, and no other soon
// after: so waits are in vain, and nearly all entries are cut at once.
func TestWaitsInVainBecomeRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := slowly(t)
		burst := func() (answered chan struct{}) {
			answered = make(chan struct{})
			var all sync.WaitGroup
			all.Add(3)
			for range 3 {
				n.group.Submit(t.Context(), "", encode(command{Key: "x"}), func(agent.Decided, error) { all.Done() })
			}
			go func() { all.Wait(); close(answered) }()
			return answered
		}
		const rounds = 300
		var sent chan struct{}
		n.together(t, func() { sent = burst() })
		time.Sleep(takes - takes/8)
		next := burst()
		<-sent
		start := time.Now()
		for range rounds {
			time.Sleep(takes - takes/8)
			sent, next = next, burst()
			<-sent
		}
		waited := time.Since(start) - rounds*takes
		if most := 10 * takes / 4; waited == 0 || waited > most {
			t.Errorf("%v were waited in vain in %d entries, not more than 0 and at most %v", waited, rounds, most)
		}
	})
}

// Callers on other nodes hear that their entry is committed by the next one: they
// cannot come back before it.
func TestAnEntryDoesNotWaitForCallersOnOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := slowly(t)
		n.together(t, func() {
			for range 4 {
				n.group.RemoteView().Submit(t.Context(), "", encode(command{Key: "x"}), func(agent.Decided, error) {})
			}
		})
		time.Sleep(takes + takes/100)
		start := time.Now()
		if err := n.put("y", 1); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != takes {
			t.Errorf("took %v", took)
		}
	})
}
