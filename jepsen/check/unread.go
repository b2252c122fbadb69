package check

import (
	"strings"

	"dormouse/jepsen/history"
)

// Unread returns the result of a workload's check, unknown instead of ok if final reads failed: nothing
// shows what became of the last writes of the keys that were not read.
func Unread(h *history.History, r Result) Result {
	for _, e := range h.Events {
		workload, why, _ := strings.Cut(e.Detail, ": ")
		if e.Kind == history.EventNote && e.Name == NoteUnread && workload == r.Check && r.Verdict == OK {
			r.Verdict, r.Why = Unknown, "final reads failed: "+why
		}
	}
	return r
}
