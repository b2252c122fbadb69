package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/history"
)

// Fault groups, and one variant, that explain events which are findings otherwise.
const (
	faultCorrupt  = "corrupt"
	faultDisk     = "disk"
	faultTransfer = "transfer"
	// VariantRolling is the variant of transfer that restarts the nodes one after the
	// other, in order.
	VariantRolling = "rolling restart"
)

// Keys in Counts of Liveness: calls in rolling restarts by clients that may use any
// node, and those of them that failed.
const (
	CountRollingCalls   = "calls in rolling restarts"
	CountRollingRefused = "refused in rolling restarts"
)

// ownQueue is the limit that the callers of a session reach themselves. The store
// refuses such a call whether or not a node restarts.
const ownQueue = "queue_max"

// exits reports processes that ended although no fault explains it, or in another way
// than the fault explains.
func (t *timeline) exits(broken *findings, counts map[string]int) {
	may := map[string][]string{} // :: node → the allowed ways to end at this time
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

// explained reports whether a process ended in one of the ways. A way equals either
// the whole detail or the part before the colon, so no exit code matches a longer one.
func explained(ways []string, detail string) bool {
	return slices.ContainsFunc(ways, func(way string) bool {
		way = strings.TrimSpace(way)
		how, _, _ := strings.Cut(detail, ":")
		return way == "any" || way == detail || way == how
	})
}

// ExitDetail returns the Detail of an EventExit, in the format of NoteMayExit:
// "killed" or "exit code N", followed by more.
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

// codes reports calls that failed with internal or corrupt while no disk was being
// damaged.
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

// rolling reports failed calls in a rolling restart without other faults. A client
// that may use any node must get every call through, unless the caller cancelled it early on
// purpose.
func (t *timeline) rolling(broken *findings, counts map[string]int) {
	for _, w := range t.windows {
		alone := !t.during(w.From, w.To, func(other Window) bool { return other.Step != w.Step })
		if w.Name != faultTransfer || w.Variant != VariantRolling || !alone {
			continue
		}
		for _, op := range t.Ops {
			retries := op.Node == "" && op.Workload != PulseWorkload
			if !retries || op.Hurried() || op.Invoke < w.From || op.Invoke > w.To {
				continue
			}
			until := min(op.Return, op.Invoke+CallMax) // the next fault may begin as the restart ends
			if t.during(op.Invoke, until, func(other Window) bool { return other.Step != w.Step }) {
				continue
			}
			counts[CountRollingCalls]++
			loaded := op.Code == "overloaded" && !strings.Contains(op.Detail, ownQueue)
			open := op.Code != "" && op.Outcome == history.Unknown && op.Via != viaRedis && !isLateRepeat(op) && !isOverQuota(op)
			if op.Code == "unavailable" || loaded || open {
				counts[CountRollingRefused]++
				broken.add("refused in a rolling restart", op.Key, fmt.Sprintf("%s on %s did not get through: %s", op.Call, op.Key, op.Detail), op)
			}
		}
	}
}

// CallMax bounds one call, so that a process does not wait for the end of a fault. The return of an unknown one is not known.
const CallMax = 5 * time.Second

// isLateRepeat reports whether a call was a request that its caller had settled before: workload dedupe sends
// such requests again, and the store cannot tell whether they were applied.
func isLateRepeat(op history.Op) bool { return op.Workload == "dedupe" && op.Code == "request_expired" }

// isOverQuota reports whether a quota refused the last attempt of a call. An earlier attempt whose outcome is unknown may
// still be applied once there is room, so that the call stays unknown.
func isOverQuota(op history.Op) bool {
	return op.Outcome == history.Unknown && strings.Contains(op.Detail, "quota_exceeded: ")
}

// viaRedis is the protocol of Redis. It has no request ids: a write whose connection ends before the reply cannot be
// sent again, so it stays unknown.
const viaRedis = "redis"

// during reports whether a matching fault was active at any time in the interval, or
// had just been healed.
func (t *timeline) during(from, to time.Duration, such func(Window) bool) bool {
	return slices.ContainsFunc(t.windows, func(w Window) bool { return such(w) && w.From <= to && from <= w.To })
}

// notes reports the violations that a nemesis observed itself.
func (t *timeline) notes(broken *findings) {
	for _, e := range t.Events {
		if e.Kind == history.EventNote && e.Name == NoteBroken {
			rule, how, _ := strings.Cut(e.Detail, ": ")
			broken.add(rule, e.Node, how)
		}
	}
}
