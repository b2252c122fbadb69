package report

import (
	"slices"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// timeline holds the parts of a history that have a time. Each list is ordered by start.
type timeline struct {
	end     time.Duration // the last instant that the history knows of
	faults  []check.Window
	leaders []span
	exits   []history.Event // before the cluster was taken down
	answers []time.Duration // when each call that took effect returned
}

// span is the observed term of a leader.
type span struct {
	node     string
	term     uint64
	from, to time.Duration
	lost     bool // another was seen to lead after it, or
	exited   bool // its process ended
}

func newTimeline(h *history.History) *timeline {
	t := &timeline{faults: check.Windows(h)}
	for _, op := range h.Ops {
		t.end = max(t.end, op.Invoke)
		if op.Return != history.Never {
			t.end = max(t.end, op.Return)
		}
		if op.Outcome == history.OK {
			t.answers = append(t.answers, op.Return)
		}
	}
	slices.Sort(t.answers)
	events := untilTakenDown(h.Events)
	for _, e := range events {
		t.end = max(t.end, e.At)
		if e.Kind == history.EventExit {
			t.exits = append(t.exits, e)
		}
	}
	for i := range t.faults {
		t.faults[i].To = min(t.faults[i].To, t.end)
	}
	t.leaders = spans(events, t.end)
	return t
}

// untilTakenDown returns the events before the cluster was stopped: exits after that are
// intended.
func untilTakenDown(events []history.Event) []history.Event {
	down := slices.IndexFunc(events, func(e history.Event) bool {
		return e.Kind == history.EventPhase && e.Name == check.PhaseEnd
	})
	if down < 0 {
		return events
	}
	return events[:down]
}

// spans returns the terms of the leaders. A term ends when another leader is seen, or when
// the process of the leader ends.
func spans(events []history.Event, end time.Duration) []span {
	var list []span
	for _, e := range events {
		var now *span
		if n := len(list); n > 0 && !list[n-1].lost {
			now = &list[n-1]
		}
		switch e.Kind {
		case history.EventLeader:
			if now != nil && now.node == e.Node && now.term == e.Term {
				continue
			}
			if now != nil {
				now.to, now.lost = e.At, true
			}
			if e.Node != "" {
				list = append(list, span{node: e.Node, term: e.Term, from: e.At, to: end})
			}
		case history.EventExit:
			if now != nil && now.node == e.Node {
				now.to, now.lost, now.exited = e.At, true, true
			}
		default:
		}
	}
	return list
}

// answered returns the first instant at or after at when a call that took effect returned;
// ok is false if there is none.
func (t *timeline) answered(at time.Duration) (first time.Duration, ok bool) {
	i, _ := slices.BinarySearch(t.answers, at)
	if i == len(t.answers) {
		return 0, false
	}
	return t.answers[i], true
}

// silence returns the longest interval within [from, to] in which no call that took effect
// returned.
func (t *timeline) silence(from, to time.Duration) time.Duration {
	var longest time.Duration
	last := from
	i, _ := slices.BinarySearch(t.answers, from)
	for ; i < len(t.answers) && t.answers[i] < to; i++ {
		longest = max(longest, t.answers[i]-last)
		last = t.answers[i]
	}
	return max(longest, to-last)
}
