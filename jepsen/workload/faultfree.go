package workload

import (
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// FaultFree tells when a cluster had no fault that slows it down.
type FaultFree struct {
	troubled []check.Window
	final    time.Duration // from here on nothing is wrong
}

// FaultFreeOf counts as trouble every fault and the time to recover from it, and
// likewise every process that ended.
func FaultFreeOf(h *history.History) FaultFree {
	c := FaultFree{troubled: check.Windows(h), final: history.Never}
	for i, w := range c.troubled {
		if w.To < history.Never-check.RecoveryMax {
			c.troubled[i].To = w.To + check.RecoveryMax
		}
	}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.EventExit:
			c.troubled = append(c.troubled, check.Window{From: e.At, To: e.At + check.RecoveryMax})
		case e.Kind == history.EventPhase && e.Name == check.PhaseFinal:
			c.final = e.At
		}
	}
	return c
}

// Between reports whether there was no fault from one time to another.
func (c FaultFree) Between(from, to time.Duration) bool {
	for _, w := range c.troubled {
		if w.From <= min(to, c.final) && from <= min(w.To, c.final) && from < c.final {
			return false
		}
	}
	return true
}
