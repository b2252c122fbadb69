package check

import (
	"encoding/json"
	"time"

	"dormouse/jepsen/history"
)

// Sample is the Data of an EventSample: how its node stood. What could not be
// learnt is zero.
type Sample struct {
	Leader      string `json:"leader,omitempty"` // whom it takes for the leader
	Term        uint64 `json:"term,omitempty"`
	Commit      uint64 `json:"commit,omitempty"`
	Applied     uint64 `json:"applied,omitempty"`
	Chain       uint32 `json:"chain,omitempty"` // over all batches up to Applied
	Goroutines  int    `json:"goroutines,omitempty"`
	Descriptors int    `json:"descriptors,omitempty"`
	RSS         int64  `json:"rss,omitempty"`      // bytes
	Installs    int    `json:"installs,omitempty"` // snapshots that its process took over from others
	State       string `json:"state,omitempty"`    // a hash of all that it serves; in a FinalLook only
}

// FinalLook names the samples that Convergence judges: a look at every node
// that should run, once all is healed and nobody writes. The looks are numbered
// by Step; the last one counts. One without Data is of a node that could not be
// asked; Detail says why.
const FinalLook = "final"

// Names of the EventNotes that judges read. All but the last two are about Node.
const (
	// NoteMayExit begins a stretch in which the node's process may end, in one
	// of the ways that Detail lists by commas: "killed", an exit code, "any".
	NoteMayExit = "may exit"
	// NoteMustRun ends it.
	NoteMustRun = "must run"
	// NoteBroken is a rule that a nemesis saw broken with its own eyes, "RULE: how".
	NoteBroken = "broken"
	// NoteStalled says that the machine, which all nodes share, did not run the
	// harness for as long as Detail says: long enough for a leader to be given up.
	NoteStalled = "stalled"
)

// Phases of a run, as EventPhase names them.
const (
	PhaseStart  = "start"  // hosts and cluster are made
	PhaseFaults = "faults" // processes call, faults come and go
	PhaseHeal   = "heal"   // all is healed; processes still call
	PhaseFinal  = "final"  // the final reads, then nobody calls
	PhaseEnd    = "end"    // the cluster is taken down: what ends from here on was ended
)

// Window is a stretch of a run in which a fault was on.
type Window struct {
	Step    int
	Name    string // the fault
	Detail  string // its variant, and what was done to whom
	From    time.Duration
	To      time.Duration // history.Never where it was never healed
	Variant string
}

// Windows are the faults of a history, by their beginning.
func Windows(h *history.History) []Window {
	var windows []Window
	open := map[int]int{} // :: step → its place in windows
	for _, e := range h.Events {
		switch e.Kind {
		case history.EventFault:
			var step struct {
				Variant string `json:"variant"`
			}
			_ = json.Unmarshal(e.Data, &step) // a fault of the user's own has none
			open[e.Step] = len(windows)
			windows = append(windows, Window{Step: e.Step, Name: e.Name, Detail: e.Detail, Variant: step.Variant, From: e.At, To: history.Never})
		case history.EventHeal:
			if i, ok := open[e.Step]; ok {
				windows[i].To = e.At
			}
		default:
		}
	}
	return windows
}

// phase is when a phase began; ok reports whether it did.
func phase(h *history.History, name string) (at time.Duration, ok bool) {
	for _, e := range h.Events {
		if e.Kind == history.EventPhase && e.Name == name {
			return e.At, true
		}
	}
	return 0, false
}

// sampleOf reads an EventSample; ok reports whether its node could be asked.
func sampleOf(e history.Event) (s Sample, ok bool) {
	return s, e.Kind == history.EventSample && len(e.Data) > 0 && json.Unmarshal(e.Data, &s) == nil
}

// findings gathers broken rules: the first few of each.
type findings struct {
	list  []Finding
	count map[string]int // :: rule → how often it was broken
}

// perRuleMax bounds the findings of one rule that a result carries.
const perRuleMax = 5

func (f *findings) add(rule, key, detail string, ops ...history.Op) {
	if f.count == nil {
		f.count = map[string]int{}
	}
	f.count[rule]++
	if f.count[rule] <= perRuleMax {
		f.list = append(f.list, Finding{Rule: rule, Key: key, Detail: detail, Ops: ops})
	}
}

// judge turns what was gathered into the verdict of r.
func (f *findings) judge(r *Result) {
	for rule, n := range f.count {
		r.Counts["broken: "+rule] = n
	}
	r.Findings = f.list
	if len(f.list) > 0 {
		r.Verdict = Violation
	}
}
