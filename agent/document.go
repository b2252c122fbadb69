package agent

import (
	"fmt"
	"slices"
	"strings"
)

// The signals that the document handler accepts, besides SignalTimer, which it records
// as an entry of kind signal_in.
const (
	SignalAppend = "append" // {"entries": one or many}
	SignalPatch  = "patch"  // a merge patch (RFC 7396) of the state
	SignalTurn   = "turn"   // {"entries"?, "patch"?, "timers"?, "cron"?}
	SignalGet    = "get"    // {}; the only one whose reply holds the state
)

var documentSignals = []string{SignalAppend, SignalPatch, SignalTurn, SignalGet}

// Takes returns an invalid error for field type if the handler is known to refuse all
// signals of that type. Only document handlers are known; for others it returns nil.
func (h Handler) Takes(signal string) error {
	if why := h.refuses(signal); why != "" {
		return Invalid("type", "%s", why)
	}
	return nil
}

// TakesIn is Takes for a signal in another field, such as that of job "nightly".
func (h Handler) TakesIn(field, what, signal string) error {
	if why := h.refuses(signal); why != "" {
		return Invalid(field, "%s: %s", what, why)
	}
	return nil
}

// refuses returns why a signal is refused, or "" if it may be accepted.
func (h Handler) refuses(signal string) string {
	if h.Kind != HandlerDocument || signal == SignalTimer || signal == SignalCron || slices.Contains(documentSignals, signal) {
		return ""
	}
	last := len(documentSignals) - 1
	return fmt.Sprintf("the document handler has no signal %q: send %s or %s", signal, strings.Join(documentSignals[:last], ", "), documentSignals[last])
}

// takesSchedules returns an invalid error if the manager's handler refuses the signal
// of one of its jobs.
func (m *Manager) takesSchedules() error {
	specs, _ := CronSpecs(m.Schedules)
	for i := range specs {
		if err := m.Handler.TakesIn("schedules", fmt.Sprintf("schedules: job %q", specs[i].Job), specs[i].Timer("", "").Type); err != nil {
			return err
		}
	}
	return nil
}
