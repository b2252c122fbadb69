package check

import (
	"fmt"
	"slices"
	"time"

	"dormouse/jepsen/history"
)

// PulseWorkload is the workload of the calls by which liveness is measured: a
// small commit on every node in turn, again and again, for the whole run.
const PulseWorkload = "pulse"

// HurriedWorkload is the workload whose callers hang up early on purpose, for
// outcomes that are unknown: that a call of theirs did not get through says nothing.
const HurriedWorkload = "dedupe"

// LivenessName is the Check of Liveness's result, and CountInstalls the key in
// its Counts of how many snapshots nodes installed.
const (
	LivenessName  = "liveness"
	CountInstalls = "snapshots installed"
)

// The bounds of liveness.
const (
	// RecoveryMax is how long after the last fault the first commit may take.
	RecoveryMax = 10 * time.Second
	// termsAtRest is how many terms may begin once the cluster has recovered, on a
	// machine that lets it run.
	termsAtRest = 1
	// termsAStall is how many more may begin for each time that the machine stood
	// still then, or up to stallAftermath before: an election, and one more where
	// its votes were split.
	termsAStall    = 2
	stallAftermath = 2 * time.Second
	// A run may see so many terms: some to begin with, some for each fault, and
	// one for every few seconds that a fault was on. A storm of elections makes
	// several a second.
	termsToBegin   = 10
	termsAFault    = 10
	secondsATerm   = 2
	installsAtRest = 2  // snapshots that a node may take over once the cluster has recovered
	installsMax    = 30 // and within any installsSpan; the loop that is known made 13 a second
	installsSpan   = 30 * time.Second
)

// Liveness judges what every run owes whatever its workloads: after the last
// fault a commit succeeds within RecoveryMax; terms and installed snapshots are
// bounded; goroutines, descriptors and memory come back down; no process ends
// but by a fault; no call is answered with internal or corrupt but where a
// disk was being damaged; a rolling restart refuses no call for good.
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

// timeline is a history by what liveness asks of it.
type timeline struct {
	*history.History
	windows    []Window
	healed     time.Duration // when the last fault was healed, or calls began where there was none
	rest       time.Duration // when a recovered cluster is at rest
	end        time.Duration // when it was taken down
	phases     map[string]time.Duration
	restLasted bool // whether it was at rest at all
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
	t.rest = t.healed + RecoveryMax
	return t
}

// pulses are the acknowledged commits, by their return.
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

// recovery: the first commit after the last healing.
func (t *timeline) recovery(broken *findings, commits []history.Op) {
	if !t.restLasted || len(commits) == 0 {
		return
	}
	for _, op := range commits {
		if op.Return < t.healed {
			continue
		}
		if took := op.Return - t.healed; took > RecoveryMax {
			broken.add("slow recovery", "", fmt.Sprintf("the first commit after the last fault took %v, more than %v", round(took), RecoveryMax), op)
		}
		return
	}
	broken.add("no recovery", "", fmt.Sprintf("no commit succeeded after the last fault was healed at %v", round(t.healed)))
}

// terms: elections end.
func (t *timeline) terms(broken *findings, counts map[string]int) {
	var first, last, resting uint64
	atRest := uint64(termsAtRest)
	for _, e := range t.Events {
		if e.Kind == history.EventNote && e.Name == NoteStalled && e.At > t.rest-stallAftermath {
			atRest += termsAStall
		}
		term := e.Term
		if s, ok := sampleOf(e); ok {
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

// installs counts the snapshots that nodes installed, and reports a node that
// installs snapshots in a loop.
func (t *timeline) installs(broken *findings, counts map[string]int) {
	type grown struct {
		at   time.Duration
		more int
	}
	last := map[string]int{}
	grew := map[string][]grown{}
	for _, e := range t.Events {
		s, ok := sampleOf(e)
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
			broken.add("install loop", node, fmt.Sprintf("node %s took over %d snapshots within %v", node, worst, installsSpan))
		} else if resting > installsAtRest {
			broken.add("install loop", node, fmt.Sprintf("node %s took over %d snapshots while the cluster was at rest", node, resting))
		}
	}
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
