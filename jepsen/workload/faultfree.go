package workload

import (
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// FaultFree reports the times in which a cluster had no fault that slows it down.
type FaultFree struct {
	troubled []check.Window
	final    time.Duration // start of the final phase, which has no faults
}

// FaultFreeOf returns the fault-free times of a history. Every fault and every end of
// a process counts together with the time to recover from it.
func FaultFreeOf(h *history.History) FaultFree {
	c := FaultFree{troubled: check.Windows(h), final: history.Never}
	recovers := check.RecoveryMax(h.Header)
	for i, w := range c.troubled {
		if w.To < history.Never-recovers {
			c.troubled[i].To = w.To + recovers
		}
	}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.EventExit:
			c.troubled = append(c.troubled, check.Window{From: e.At, To: e.At + recovers})
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
