package check

import (
	"time"

	"dormouse/jepsen/history"
)

// Recovery is how long the cluster accepted no commits after a fault and after its
// healing. Both times are upper bounds with the resolution of the pulse.
type Recovery struct {
	Window
	AfterFault time.Duration // until the return of the first commit that started after the fault and succeeded; history.Never if there is none
	AfterHeal  time.Duration // until the first commit that succeeded after the healing; history.Never if there is none
}

// Recoveries measures the recovery from every fault of a history.
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
