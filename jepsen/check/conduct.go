package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/history"
)

// Fault groups, and a variant, that explain what would be a finding otherwise.
const (
	faultCorrupt  = "corrupt"
	faultDisk     = "disk"
	faultTransfer = "transfer"
	// VariantRolling is the variant of transfer that restarts one node after
	// the other, in order.
	VariantRolling = "rolling restart"
)

// Counts of Liveness: of calls in rolling restarts by clients that may go to
// any node, and of those among them that did not get through.
const (
	CountRollingCalls   = "calls in rolling restarts"
	CountRollingRefused = "refused in rolling restarts"
)

// ownQueue is the limit that a session's own callers fill: that a call is refused
// for it is decided by the store, whoever restarts.
const ownQueue = "queue_max"

// exits: a process ends only where a fault ends it, and in the way that the
// fault says.
func (t *timeline) exits(broken *findings, counts map[string]int) {
	may := map[string][]string{} // :: node → the ways in which it may end now
	for _, e := range t.Events {
		switch {
		case e.Kind == history.EventNote && e.Name == NoteMayExit:
			may[e.Node] = strings.Split(e.Detail, ",")
		case e.Kind == history.EventNote && e.Name == NoteMustRun:
			delete(may, e.Node)
		case e.Kind == history.EventExit && e.At < t.end:
			counts["exits"]++
			if !explained(may[e.Node], e.Detail) {
				broken.add("unexplained exit", e.Node, fmt.Sprintf("the process of node %s ended at %v: %s", e.Node, round(e.At), e.Detail))
			}
		}
	}
}

// explained reports whether one of the ways is how a process ended: all that
// detail says, or all before the colon. So no exit code stands for a longer one.
func explained(ways []string, detail string) bool {
	return slices.ContainsFunc(ways, func(way string) bool {
		way = strings.TrimSpace(way)
		how, _, _ := strings.Cut(detail, ":")
		return way == "any" || way == detail || way == how
	})
}

// ExitDetail is the Detail of an EventExit, in the words of NoteMayExit:
// "killed", or "exit code N", and what else is to be said.
func ExitDetail(code int, signalled bool, more string) string {
	detail := fmt.Sprintf("exit code %d", code)
	if signalled {
		detail = "killed"
	}
	if more != "" {
		detail += ": " + more
	}
	return detail
}

// codes: no call is answered with internal or corrupt, but while a disk is
// being damaged.
func (t *timeline) codes(broken *findings) {
	for _, op := range t.Ops {
		if op.Code != "internal" && op.Code != "corrupt" {
			continue
		}
		if !t.during(op.Invoke, op.Return, func(w Window) bool { return w.Name == faultCorrupt || w.Name == faultDisk }) {
			broken.add("unexplained "+op.Code, op.Key, fmt.Sprintf("%s on %s was answered with %s: %s", op.Call, op.Key, op.Code, op.Detail), op)
		}
	}
}

// rolling: while the nodes are restarted one after the other, in order and with
// nothing else going on, a client that may go to any node gets every call through.
func (t *timeline) rolling(broken *findings, counts map[string]int) {
	for _, w := range t.windows {
		alone := !t.during(w.From, w.To, func(other Window) bool { return other.Step != w.Step })
		if w.Name != faultTransfer || w.Variant != VariantRolling || !alone {
			continue
		}
		for _, op := range t.Ops {
			patient := op.Node == "" && op.Workload != PulseWorkload && op.Workload != HurriedWorkload
			if !patient || op.Invoke < w.From || op.Invoke > w.To {
				continue
			}
			counts[CountRollingCalls]++
			loaded := op.Code == "overloaded" && !strings.Contains(op.Detail, ownQueue)
			if op.Code == "unavailable" || loaded || op.Code != "" && op.Outcome == history.Unknown {
				counts[CountRollingRefused]++
				broken.add("refused in a rolling restart", op.Key, fmt.Sprintf("%s on %s did not get through: %s", op.Call, op.Key, op.Detail), op)
			}
		}
	}
}

// during reports whether such a fault was on at any time between the two, or had
// just been healed.
func (t *timeline) during(from, to time.Duration, such func(Window) bool) bool {
	return slices.ContainsFunc(t.windows, func(w Window) bool { return such(w) && w.From <= to && from <= w.To })
}

// notes: what a nemesis saw with its own eyes.
func (t *timeline) notes(broken *findings) {
	for _, e := range t.Events {
		if e.Kind == history.EventNote && e.Name == NoteBroken {
			rule, how, _ := strings.Cut(e.Detail, ": ")
			broken.add(rule, e.Node, how)
		}
	}
}
