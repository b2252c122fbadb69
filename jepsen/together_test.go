package jepsen

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// growing are nodes that renew their leases: each hears of an entry a while after the first
// node, and the log never stops growing.
type growing struct {
	began   time.Time
	behind  []time.Duration // by node
	entries time.Duration   // from one to the next
	mu      sync.Mutex
	asked   int
}

func (g *growing) ask(node int) (index uint64, answer int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	index = 100 + uint64((time.Since(g.began)-g.behind[node])/g.entries)
	return index, int(index), nil
}

func TestNodesThatNeverStandStillAnswerAtOneIndex(t *testing.T) {
	for _, test := range []struct {
		name    string
		behind  []time.Duration
		entries time.Duration
		one     bool
	}{
		{"no node", nil, time.Millisecond, true},
		{"one node", []time.Duration{0}, time.Millisecond, true},
		{"at the same place", []time.Duration{0, 0, 0}, time.Second, true},
		{"followers always behind", []time.Duration{0, 90 * time.Millisecond, 70 * time.Millisecond}, 100 * time.Millisecond, true},
		{"one too far behind", []time.Duration{0, time.Hour}, 100 * time.Millisecond, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &growing{began: time.Now().Add(-2 * time.Hour), behind: test.behind, entries: test.entries}
				asked := time.Now()
				answers, errs := together(t.Context(), len(test.behind), g.ask)
				if len(test.behind) == 0 && time.Since(asked) > 0 {
					t.Errorf("it waited %v for no node", time.Since(asked))
				}
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				if one := len(slices.Compact(slices.Clone(answers))) <= 1; one != test.one {
					t.Errorf("the answers are %v", answers)
				}
				if most := asksMax * len(test.behind); g.asked > most || !test.one && g.asked != most {
					t.Errorf("%d questions, at most %d", g.asked, most)
				}
			})
		})
	}
}

func TestANodeThatDoesNotAnswerIsNotAskedAgain(t *testing.T) {
	broken := errors.New("it does not run")
	answers, errs := together(t.Context(), 2, func(node int) (uint64, string, error) {
		return 7, "rows", []error{nil, broken}[node]
	})
	if errs[0] != nil || !errors.Is(errs[1], broken) || answers[0] != "rows" {
		t.Errorf("the answers are %q, %v", answers, errs)
	}
}

func TestAnAnswerAtAnyIndexStandsBesideEachOther(t *testing.T) {
	answers, _ := together(t.Context(), 3, func(node int) (uint64, string, error) {
		return []uint64{7, anyIndex, 7}[node], []string{"rows", "", "rows"}[node], nil
	})
	if !slices.Equal(answers, []string{"rows", "", "rows"}) {
		t.Errorf("the answers are %q", answers)
	}
}
