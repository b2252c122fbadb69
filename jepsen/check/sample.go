package check

import (
	"encoding/json"
	"time"

	"dormouse/jepsen/history"
)

// Sample is the Data of an EventSample: the status of its node. Unavailable values are
// zero.
type Sample struct {
	Leader      string `json:"leader,omitempty"` // the leader that the node knows
	Term        uint64 `json:"term,omitempty"`
	Commit      uint64 `json:"commit,omitempty"`
	Applied     uint64 `json:"applied,omitempty"`
	Chain       uint32 `json:"chain,omitempty"` // over all batches up to Applied
	Goroutines  int    `json:"goroutines,omitempty"`
	Descriptors int    `json:"descriptors,omitempty"`
	RSS         int64  `json:"rss,omitempty"`         // bytes
	Installs    int    `json:"installs,omitempty"`    // snapshots that its process installed
	Snapshots   int    `json:"snapshots,omitempty"`   // that its process took
	Truncations int    `json:"truncations,omitempty"` // ends of its log that a leader's entries replaced
	// Answered, SharedFences, LeasesEnded and Drained are what its state machine met: commits answered
	// from the dedup table, fences of commits that shared an entry, node leases that expired, and
	// partitions that moved after they were drained.
	Answered     int `json:"answered,omitempty"`
	SharedFences int `json:"shared_fences,omitempty"`
	LeasesEnded  int `json:"leases_ended,omitempty"`
	Drained      int `json:"drained,omitempty"`

	State string `json:"state,omitempty"` // a hash of everything that the node serves; only in a FinalLook
	Rows  *Rows  `json:"rows,omitempty"`  // of its stored rows; only in a FinalLook, and nil if the node has no such call
}

// Rows are hashes of all rows that a node stores, whether or not a call serves them.
type Rows struct {
	Index uint64            `json:"index"` // of the log
	Hash  string            `json:"hash"`
	Kinds map[string]string `json:"kinds"` // :: kind → hash of its rows
}

// FinalLook is the name of the samples that Convergence judges. Each look samples
// every node that should run, once all faults are healed and writes have stopped. Step
// numbers the looks; the last one counts. A sample without Data is of a node that did
// not answer; Detail says why.
const FinalLook = "final"

// Names of the EventNotes that checkers read. All but the last four are about Node.
const (
	// NoteMayExit begins an interval in which the node's process may end. Detail lists
	// the allowed ways, separated by commas: "killed", an exit code, "any".
	NoteMayExit = "may exit"
	// NoteMustRun ends that interval.
	NoteMustRun = "must run"
	// NoteBroken is a violation that a nemesis observed itself, "RULE: how".
	NoteBroken = "broken"
	// NoteStalled records that the machine, which all nodes share, did not run the
	// harness for the time in Detail: long enough to cause an election.
	NoteStalled = "stalled"
	// NoteDiskUnread records that the disk of a node could not be read after a cluster
	// did not recover.
	NoteDiskUnread = "disk unread"
	// NoteUnread records that final reads of a workload failed, "WORKLOAD: why".
	NoteUnread = "final reads"
)

// Phases of a run, as EventPhase names them.
const (
	PhaseStart  = "start"  // hosts and cluster start
	PhaseFaults = "faults" // processes call while faults come and go
	PhaseHeal   = "heal"   // all faults are healed; processes still call
	PhaseFinal  = "final"  // the final reads, then no calls
	PhaseEnd    = "end"    // the cluster stops: processes that end from here on are ended by the harness
)

// Window is the interval of a run in which a fault was active.
type Window struct {
	Step    int
	Name    string // name of the fault
	Detail  string // the variant, and the affected nodes
	From    time.Duration
	To      time.Duration // history.Never if it was never healed
	Variant string
}

// Windows returns the faults of a history, in order of their start.
func Windows(h *history.History) []Window {
	var windows []Window
	open := map[int]int{} // :: step → index in windows
	for _, e := range h.Events {
		switch e.Kind {
		case history.EventFault:
			var step struct {
				Variant string `json:"variant"`
			}
			_ = json.Unmarshal(e.Data, &step) // a fault of a user's hook has none
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

// phase returns when a phase began; ok reports whether it did.
func phase(h *history.History, name string) (at time.Duration, ok bool) {
	for _, e := range h.Events {
		if e.Kind == history.EventPhase && e.Name == name {
			return e.At, true
		}
	}
	return 0, false
}

// SampleOf decodes an EventSample; ok reports whether its node answered.
func SampleOf(e history.Event) (s Sample, ok bool) {
	ok = e.Kind == history.EventSample && len(e.Data) > 0 && json.Unmarshal(e.Data, &s) == nil
	return s, ok
}

// findings collects violations: the first few of each rule.
type findings struct {
	list  []Finding
	count map[string]int // :: rule → how often it was broken
}

// perRuleMax bounds the number of findings of one rule in a result.
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

// judge sets the verdict, the findings and the counts of r.
func (f *findings) judge(r *Result) {
	for rule, n := range f.count {
		r.Counts["broken: "+rule] = n
	}
	r.Findings = f.list
	if len(f.list) > 0 {
		r.Verdict = Violation
	}
}
