package check

import (
	"time"

	"dormouse/jepsen/history"
)

// Recovery is how long the cluster took no commits after a fault, and after
// its healing. Both are upper bounds, as fine as the pulse.
type Recovery struct {
	Window
	AfterFault time.Duration // until the first commit that was begun after the fault and succeeded; history.Never where none did
	AfterHeal  time.Duration // until the first commit that succeeded after the healing; history.Never as above
}

// Recoveries measures every fault of a history by its pulse.
func Recoveries(h *history.History) []Recovery {
	t := newTimeline(h)
	commits := t.pulses()
	out := make([]Recovery, 0, len(t.windows))
	for _, w := range t.windows {
		r := Recovery{Window: w, AfterFault: history.Never, AfterHeal: history.Never}
		for _, op := range commits {
			if op.Invoke >= w.From && r.AfterFault == history.Never {
				r.AfterFault = op.Return - w.From
			}
			if w.To != history.Never && op.Return >= w.To && r.AfterHeal == history.Never {
				r.AfterHeal = op.Return - w.To
			}
		}
		out = append(out, r)
	}
	return out
}
