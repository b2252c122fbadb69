package report

import (
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Loss is the end of a leader's time, and how long callers waited for the next.
type Loss struct {
	Node  string        `json:"node"`
	Term  uint64        `json:"term"`
	At    time.Duration `json:"at"`              // where its process ended, or the newest fault of its time began; else where another was seen to lead
	Step  int           `json:"step,omitempty"`  // the fault that was on
	Fault string        `json:"fault,omitempty"` // its name and variant
	Alone bool          `json:"alone,omitempty"` // it met the leader alone: the others were free to elect another at once
	// Took is the longest silence from At until the first acknowledged call
	// after another leader was seen.
	Took  time.Duration `json:"took"`
	Never bool          `json:"never,omitempty"` // no call was acknowledged any more
}

// blameMax is how long after its healing a fault may still cost a leader its
// place: a few rounds of elections.
const blameMax = 10 * time.Second

// Losses is every leader that was lost before the cluster was taken down.
func Losses(h *history.History) []Loss {
	t := newTimeline(h)
	var list []Loss
	for i, s := range t.leaders {
		if s.lost {
			list = append(list, t.loss(i, h.Header.Nodes))
		}
	}
	return list
}

// votersToElect is the smallest cluster that can elect a leader without the
// one that it lost.
const votersToElect = 3

// loss is how the i-th leader of so many nodes was lost.
func (t *timeline) loss(i, nodes int) Loss {
	s := t.leaders[i]
	l := Loss{Node: s.node, Term: s.term, At: s.to}
	for _, w := range t.faults {
		if w.From > s.to {
			break
		}
		if w.To+blameMax < s.to {
			continue
		}
		l.Step, l.Fault = w.Step, label(w)
		l.Alone = nodes >= votersToElect && strings.Contains(w.Variant, "leader")
		if w.From >= s.from && !s.exited {
			l.At = w.From
		}
	}
	seen := t.end // when the next leader was seen
	if i+1 < len(t.leaders) {
		seen = t.leaders[i+1].from
	}
	first, ok := t.answered(seen)
	if !ok {
		first, l.Never = t.end, true
	}
	l.Took = t.silence(l.At, first)
	return l
}

// label is a fault as people name it.
func label(w check.Window) string {
	if w.Variant == "" {
		return w.Name
	}
	return w.Name + "/" + w.Variant
}

// Waits is how long callers waited for another leader where the fault met the
// leader alone, from the shortest: what an election costs. Elsewhere they may
// have waited for a majority.
func Waits(losses []Loss) []time.Duration {
	var waits []time.Duration
	for _, l := range losses {
		if l.Alone {
			waits = append(waits, l.Took)
		}
	}
	slices.Sort(waits)
	return waits
}

// spread is the median and the greatest of some times; 0 of none.
func spread(took []time.Duration) (median, worst time.Duration) {
	slices.Sort(took)
	return quantile(took, 0.5), quantile(took, 1)
}
