package check

import (
	"fmt"
	"slices"
	"time"

	"dormouse/jepsen/history"
)

// PulseWorkload is the name of the calls that measure liveness: small commits on each
// node, repeated during the whole run.
const PulseWorkload = "pulse"

// LivenessName is the Check of the result of Liveness. CountInstalls is the key in its
// Counts of the number of snapshots that nodes installed.
const (
	LivenessName  = "liveness"
	CountInstalls = "snapshots installed"
)

// The bounds of liveness.
const (
	// Bounds of the time from the last fault to the first successful commit. With the timing wan a node
	// stands for election 5 to 10 s after it has started or last heard a leader. Two that stand at the same
	// time may depose each other, and then it takes as long again.
	recoveryMax, recoveryMaxWAN = 10 * time.Second, 30 * time.Second
	// termsAtRest is how many terms may begin once the cluster has recovered, if the
	// machine does not stall.
	termsAtRest = 1
	// termsAStall is how many more terms may begin for each stall of the machine at
	// that time, or up to stallAftermath before it: one election, and a second one
	// after a split vote.
	termsAStall    = 2
	stallAftermath = 2 * time.Second
	// A run may have termsToBegin terms, plus termsAFault for each fault, plus one for
	// every secondsATerm seconds of a fault. A storm of elections has several a
	// second.
	termsToBegin   = 10
	termsAFault    = 10
	secondsATerm   = 2
	installsAtRest = 2  // snapshots that a node may install once the cluster has recovered
	installsMax    = 30 // and within any installsSpan; the known install loop made 13 a second
	installsSpan   = 30 * time.Second
)

// timingWAN is the value of cluster.timing for several regions.
const timingWAN = "wan"

// RecoveryMax returns the time within which a cluster commits again after the last fault.
func RecoveryMax(h history.Header) time.Duration {
	if h.Timing == timingWAN {
		return recoveryMaxWAN
	}
	return recoveryMax
}

// Liveness judges the requirements on every run, whatever its workloads. A commit
// succeeds within RecoveryMax after the last fault. The numbers of terms and installed
// snapshots are bounded. Goroutines, descriptors and memory return to normal.
// Processes end only because of a fault. Calls fail with internal or corrupt only
// while a disk is being damaged. A rolling restart fails no call. A scope that floods leaves
// the others room.
func Liveness(h *history.History) Result {
	began := time.Now()
	r := Result{Check: LivenessName, Verdict: OK, Counts: map[string]int{}}
	defer func() { r.Took = time.Since(began) }()
	run := newTimeline(h)
	var broken findings
	commits := run.pulses()
	r.Ops = len(commits)
	run.recovery(&broken, commits)
	run.terms(&broken, r.Counts)
	run.installs(&broken, r.Counts)
	run.growth(&broken)
	run.exits(&broken, r.Counts)
	run.codes(&broken)
	run.rolling(&broken, r.Counts)
	run.tenants(&broken, r.Counts)
	run.notes(&broken)
	if len(commits) == 0 && len(broken.list) == 0 {
		r.Verdict, r.Why = Unknown, "no commit was ever acknowledged to the process that measures liveness"
	}
	broken.judge(&r)
	if _, healed := phase(h, PhaseFinal); !healed && r.Verdict == OK {
		r.Verdict, r.Why = Unknown, "the run was interrupted before the cluster had its time to recover"
	}
	return r
}

// timeline is a history with the times that Liveness needs.
type timeline struct {
	*history.History
	windows    []Window
	healed     time.Duration // when the last fault was healed, or when calls began if there was no fault
	rest       time.Duration // when the cluster must be at rest
	end        time.Duration // when the cluster was stopped
	phases     map[string]time.Duration
	restLasted bool // whether the run reached the rest
}

func newTimeline(h *history.History) *timeline {
	t := &timeline{History: h, windows: Windows(h), phases: map[string]time.Duration{}, end: history.Never}
	for _, e := range h.Events {
		if e.Kind == history.EventPhase {
			t.phases[e.Name] = e.At
		}
	}
	if end, ok := t.phases[PhaseEnd]; ok {
		t.end = end
	}
	t.healed = max(t.phases[PhaseFaults], t.phases[PhaseHeal])
	for _, w := range t.windows {
		if w.To != history.Never {
			t.healed = max(t.healed, w.To)
		}
	}
	_, t.restLasted = t.phases[PhaseFinal]
	t.rest = t.healed + RecoveryMax(h.Header)
	return t
}

// pulses returns the acknowledged pulse commits, sorted by return time.
func (t *timeline) pulses() []history.Op {
	var commits []history.Op
	for _, op := range t.Ops {
		if op.Workload == PulseWorkload && op.Outcome == history.OK {
			commits = append(commits, op)
		}
	}
	slices.SortFunc(commits, func(a, b history.Op) int { return int(a.Return - b.Return) })
	return commits
}

// recovery reports a slow or missing first commit after the last healing.
func (t *timeline) recovery(broken *findings, commits []history.Op) {
	if !t.restLasted || len(commits) == 0 {
		return
	}
	for _, op := range commits {
		if op.Return < t.healed {
			continue
		}
		if took, most := op.Return-t.healed, RecoveryMax(t.Header); took > most {
			broken.add("slow recovery", "", fmt.Sprintf("the first commit after the last fault took %v, more than %v", round(took), most), op)
		}
		return
	}
	broken.add("no recovery", "", fmt.Sprintf("no commit succeeded after the last fault was healed at %v", round(t.healed)))
}

// terms reports elections that do not end.
func (t *timeline) terms(broken *findings, counts map[string]int) {
	var first, last, resting uint64
	atRest := uint64(termsAtRest)
	for _, e := range t.Events {
		if e.Kind == history.EventNote && e.Name == NoteStalled && e.At > t.rest-stallAftermath {
			atRest += termsAStall
		}
		term := e.Term
		if s, ok := SampleOf(e); ok {
			term = s.Term
		}
		if term == 0 {
			continue
		}
		if first == 0 {
			first = term
		}
		if e.At <= t.rest {
			resting = max(resting, term)
		}
		last = max(last, term)
	}
	counts["terms"] = int(last - first)
	if resting > 0 && t.restLasted && last > resting+atRest {
		broken.add("unbounded terms", "", fmt.Sprintf("the term went from %d to %d while the cluster was at rest", resting, last))
	}
	bound := uint64(termsToBegin + termsAFault*len(t.windows))
	for _, w := range t.windows {
		bound += uint64((min(w.To, t.lastEvent()) - w.From) / (secondsATerm * time.Second))
	}
	if last-first > bound {
		broken.add("unbounded terms", "", fmt.Sprintf("%d terms in a run with %d faults: more than %d", last-first, len(t.windows), bound))
	}
}

func (t *timeline) lastEvent() time.Duration {
	if len(t.Events) == 0 {
		return 0
	}
	return t.Events[len(t.Events)-1].At
}

// installs counts the installed snapshots and reports a node that installs snapshots
// in a loop.
func (t *timeline) installs(broken *findings, counts map[string]int) {
	type grown struct {
		at   time.Duration
		more int
	}
	last := map[string]int{}
	grew := map[string][]grown{}
	for _, e := range t.Events {
		s, ok := SampleOf(e)
		if !ok {
			continue
		}
		more := s.Installs - last[e.Node]
		if more < 0 { // a new process counts from 0
			more = s.Installs
		}
		if more > 0 {
			grew[e.Node] = append(grew[e.Node], grown{e.At, more})
			counts[CountInstalls] += more
		}
		last[e.Node] = s.Installs
	}
	for node, steps := range grew {
		resting, worst := 0, 0
		for i, from := range steps {
			within := 0
			for _, s := range steps[i:] {
				if s.at-from.at <= installsSpan {
					within += s.more
				}
			}
			worst = max(worst, within)
			if from.at > t.rest {
				resting += from.more
			}
		}
		if worst > installsMax {
			broken.add("install loop", node, fmt.Sprintf("node %s installed %d snapshots within %v", node, worst, installsSpan))
		} else if resting > installsAtRest {
			broken.add("install loop", node, fmt.Sprintf("node %s installed %d snapshots while the cluster was at rest", node, resting))
		}
	}
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
