package report

import (
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Loss is the end of a leader's term, and how long callers waited for the next leader.
type Loss struct {
	Node  string        `json:"node"`
	Term  uint64        `json:"term"`
	At    time.Duration `json:"at"`              // where its process ended, or the newest fault of its time began; else where another was seen to lead
	Step  int           `json:"step,omitempty"`  // the fault that was on
	Fault string        `json:"fault,omitempty"` // its name and variant
	Alone bool          `json:"alone,omitempty"` // it met the leader alone: the others were free to elect another at once
	// Took is the longest time without an acknowledged call, from At until the first
	// acknowledged call after another leader was seen.
	Took  time.Duration `json:"took"`
	Never bool          `json:"never,omitempty"` // no call was acknowledged any more
}

// blameMax is how long after it was healed a fault can still cause the loss of a leader: a
// few rounds of elections.
const blameMax = 10 * time.Second

// Losses returns every leader that was lost before the cluster was stopped.
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

// votersToElect is the size of the smallest cluster that can elect a leader after it lost
// one.
const votersToElect = 3

// loss returns how the i-th leader was lost; nodes is the size of the cluster.
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

// label returns the name of a fault for people.
func label(w check.Window) string {
	if w.Variant == "" {
		return w.Name
	}
	return w.Name + "/" + w.Variant
}

// Waits returns how long callers waited for another leader, in ascending order, for faults
// that affected only the leader. These times measure an election. After other faults,
// callers may also have waited for a majority.
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

// spread returns the median and the maximum of some times; 0 if there are none.
func spread(took []time.Duration) (median, worst time.Duration) {
	slices.Sort(took)
	return quantile(took, 0.5), quantile(took, 1)
}
