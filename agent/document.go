package agent

import (
	"fmt"
	"slices"
	"strings"
)

// The signals that the handler document takes, beside SignalTimer, which it notes
// as an entry of kind signal_in.
const (
	SignalAppend = "append" // {"entries": one or many}
	SignalPatch  = "patch"  // a merge patch of the state
	SignalTurn   = "turn"   // {"entries"?, "patch"?, "timers"?, "cron"?}
	SignalGet    = "get"    // {}; the only one whose reply holds the state
)

var documentSignals = []string{SignalAppend, SignalPatch, SignalTurn, SignalGet}

// Takes returns invalid, of field type, where the handler is known to refuse every
// signal of a type. What other handlers than document take, only they know.
func (h Handler) Takes(signal string) error {
	if why := h.refuses(signal); why != "" {
		return Invalid("type", "%s", why)
	}
	return nil
}

// TakesIn is Takes of something in a field, such as job "nightly".
func (h Handler) TakesIn(field, what, signal string) error {
	if why := h.refuses(signal); why != "" {
		return Invalid(field, "%s: %s", what, why)
	}
	return nil
}

// refuses says why a signal is refused; "" is no reason.
func (h Handler) refuses(signal string) string {
	if h.Kind != HandlerDocument || signal == SignalTimer || signal == SignalCron || slices.Contains(documentSignals, signal) {
		return ""
	}
	last := len(documentSignals) - 1
	return fmt.Sprintf("a document takes no signal %q: send %s or %s", signal, strings.Join(documentSignals[:last], ", "), documentSignals[last])
}

// takesSchedules returns invalid where the manager's handler refuses the signal of
// one of its jobs.
func (m *Manager) takesSchedules() error {
	specs, _ := CronSpecs(m.Schedules)
	for i := range specs {
		if err := m.Handler.TakesIn("schedules", fmt.Sprintf("schedules: job %q", specs[i].Job), specs[i].Timer("", "").Type); err != nil {
			return err
		}
	}
	return nil
}
