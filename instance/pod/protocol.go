package pod

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// HandlerName is the Go handler that a pod's manager names. Each node has it.
const HandlerName = "pod"

// The signals that a pod takes; Pods sends them. Each is one turn, so its
// effects on the pod are one commit, fenced and once.
const (
	SignalOpen      = "pod.open"      // Open → Opened
	SignalReconcile = "pod.reconcile" // Reconcile → Reconciled
	SignalMutate    = "pod.mutate"    // Mutate → Progress
	SignalStep      = "pod.step"      // Step → Progress
	SignalResume    = "pod.resume"    // Step → Progress; the pod's own timer's
	SignalStopAll   = "pod.rest"      // Rest → Rested
	SignalFork      = "pod.fork"      // Fork → Forked
	SignalPatch     = "patch"         // a merge patch of the state, the slot apart
	SignalGet       = "get"           // {} → {"state"}
)

// Open makes a pod where there is none.
type Open struct {
	Topology     jsontext.Value `json:"topology,omitempty"`      // where absent, the member topology of its manager's metadata
	InitialState jsontext.Value `json:"initial_state,omitempty"` // of a new pod, beside its slot
}

// Opened says what pod there is.
type Opened struct {
	Created         bool   `json:"created"`
	TopologyVersion uint64 `json:"topology_version"`
	Mutation        *Step  `json:"mutation,omitempty"` // one that runs, and its next step
}

// Reconcile asks for nodes, with all that they need.
type Reconcile struct {
	Nodes        []string       `json:"nodes,omitempty"`         // none means the eager ones
	InitialState jsontext.Value `json:"initial_state,omitempty"` // of the one node that is named, where it is fresh
}

// Reconciled is what came of a Reconcile. What comes after a wave with a failure
// is pending.
type Reconciled struct {
	Requested []string            `json:"requested"`
	Waves     [][]string          `json:"waves"`
	Nodes     map[string]Outcomes `json:"nodes"`
	Failures  map[string]Failure  `json:"failures"`
	Completed []string            `json:"completed"`
	Failed    []string            `json:"failed"`
	Pending   []string            `json:"pending"`
	Abridged  bool                `json:"abridged,omitempty"` // nodes were left out: ask for them
}

// Outcomes is how a node that was asked for came to be there.
type Outcomes struct {
	Source Source `json:"source"`
	Owner  string `json:"owner,omitempty"`
	Parent Parent `json:"parent"`
}

// Source says how a node came to be there.
type Source string

// The sources.
const (
	SourceAdopted Source = "adopted" // it was awake, and hung under nobody
	SourceRunning Source = "running" // it was awake already, and adopted
	SourceStarted Source = "started"
)

// Mutate asks for a change of the topology.
type Mutate struct {
	Ops jsontext.Value `json:"ops"`
}

// Step names a step of a mutation.
type Step struct {
	MutationID string `json:"mutation_id"`
	Step       uint64 `json:"step"` // from 0
}

// Request is the request id that a step goes under, whoever asks for it: so each
// step has one turn.
func (s Step) Request() agent.Request {
	return agent.Request{Client: "pod-mutation/" + s.MutationID, Seq: s.Step + 1}
}

// Progress is how far a mutation is.
type Progress struct {
	Step           // the next one, while there is no report
	Report *Report `json:"report,omitempty"`
}

// StopAll asks that all nodes of a pod be stopped.
type StopAll struct {
	Teardown bool `json:"teardown,omitempty"` // for good: a mutation that runs ends
}

// Rested is what was stored of a pod as its nodes came to rest.
type Rested struct {
	Index    uint64             `json:"index"` // all revisions and revs are as of it
	Nodes    map[string]Stored  `json:"nodes"` // :: key of the instance, of nested pods' nodes too
	Stopped  []string           `json:"stopped"`
	Failures map[string]Failure `json:"failures"` // :: node → why it was not
	Abridged bool               `json:"abridged,omitempty"`
}

// Stored is what is stored of a node.
type Stored struct {
	Manager  string `json:"manager"`
	Revision uint64 `json:"revision"` // of its checkpoint
	Rev      uint64 `json:"rev"`      // of its thread
}

// Fork asks for another pod that is as this one is stored.
type Fork struct {
	Key string `json:"key"` // of the new pod, of the same manager
}

// Forked is what a Fork made. The new pod is dormant, as are its nodes.
type Forked struct {
	Key   string `json:"key"`
	Index uint64 `json:"index"` // all of it is as it was there
	Nodes int    `json:"nodes"` // that had anything stored, of nested pods too
}

// reportBytesMax is what a report may take of a reply that is kept with its turn.
const reportBytesMax = agent.SignalReplyBytesMax - 1<<10

// Reply encodes an answer. One that would be too long to be kept with its turn
// is abridged.
func Reply(v any) (agent.JSON, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "encode an answer of a pod: %v", err)
	}
	if len(raw) <= reportBytesMax {
		return raw, nil
	}
	switch v := v.(type) {
	case Reconciled:
		return Reply(Reconciled{Requested: firstNames(v.Requested), Failures: firstFailures(v.Failures), Failed: firstNames(v.Failed), Abridged: true})
	case Progress:
		r := *v.Report
		return Reply(Progress{Step: v.Step, Report: &Report{
			MutationID: r.MutationID, Status: r.Status, TopologyVersion: r.TopologyVersion, Failures: firstFailures(r.Failures), Abridged: true,
		}})
	case Rested:
		return Reply(Rested{Index: v.Index, Failures: firstFailures(v.Failures), Abridged: true})
	default:
		return nil, agent.Errorf(agent.CodeInternal, "an answer of a pod takes %d bytes", len(raw))
	}
}

// abridgedMax is how many of a list are left in an answer that would be too long.
const abridgedMax = 16

func firstNames(names []string) []string { return names[:min(len(names), abridgedMax)] }

func firstFailures(all map[string]Failure) map[string]Failure {
	some := map[string]Failure{}
	for _, name := range firstNames(slices.Sorted(maps.Keys(all))) {
		some[name] = all[name]
	}
	return some
}

// failureOf makes the error of failures; nil where there is none. Its reason is
// the code of the first of them.
func failureOf(code agent.Code, stage string, failures map[string]Failure) error {
	if len(failures) == 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(failures[a].Stage, failures[b].Stage), cmp.Compare(a, b))
	})
	var said []string
	for _, name := range firstNames(names) {
		f := failures[name]
		said = append(said, fmt.Sprintf("node %q at %s: %s: %s", name, f.Stage, f.Code, f.Detail))
	}
	e := agent.Errorf(code, "%s: %d nodes failed: %s", stage, len(names), strings.Join(said, "; "))
	e.Reason = string(failures[names[0]].Code)
	return e
}
