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

// HandlerName is the Go handler that the manager of a pod names. All nodes have
// it.
const HandlerName = "pod"

// The signals that a pod accepts. Pods sends them. Each is one turn, so its
// changes of the pod are one fenced commit, which applies once.
const (
	SignalOpen      = "pod.open"      // Open → Opened
	SignalReconcile = "pod.reconcile" // Reconcile → Reconciled
	SignalMutate    = "pod.mutate"    // Mutate → Progress
	SignalStep      = "pod.step"      // Step → Progress
	SignalResume    = "pod.resume"    // Step → Progress; sent by the pod's own timer
	SignalStopAll   = "pod.rest"      // Rest → Rested
	SignalFork      = "pod.fork"      // Fork → Forked
	SignalPatch     = "patch"         // a merge patch of the state without the slot
	SignalGet       = "get"           // {} → {"state"}
)

// Open creates a pod if it does not exist.
type Open struct {
	Topology     jsontext.Value `json:"topology,omitempty"`      // if absent, the member topology of the manager's metadata
	InitialState jsontext.Value `json:"initial_state,omitempty"` // of a new pod, without its slot
}

// Opened is the result of Open.
type Opened struct {
	Created         bool   `json:"created"`
	TopologyVersion uint64 `json:"topology_version"`
	Mutation        *Step  `json:"mutation,omitempty"` // the next step of the running mutation, if any
}

// Reconcile requests nodes, and all nodes that they need.
type Reconcile struct {
	Nodes        []string       `json:"nodes,omitempty"`         // empty means the eager nodes
	InitialState jsontext.Value `json:"initial_state,omitempty"` // of the only named node, if it is fresh
}

// Reconciled is the result of Reconcile. Nodes in the waves after a failure are
// pending.
type Reconciled struct {
	Requested []string            `json:"requested"`
	Waves     [][]string          `json:"waves"`
	Nodes     map[string]Outcomes `json:"nodes"`
	Failures  map[string]Failure  `json:"failures"`
	Completed []string            `json:"completed"`
	Failed    []string            `json:"failed"`
	Pending   []string            `json:"pending"`
	Abridged  bool                `json:"abridged,omitempty"` // the lists were shortened: read the nodes instead
}

// Outcomes describes how a requested node was made available.
type Outcomes struct {
	Source Source `json:"source"`
	Owner  string `json:"owner,omitempty"`
	Parent Parent `json:"parent"`
}

// Source says how a requested node was made available.
type Source string

// The sources.
const (
	SourceAdopted Source = "adopted" // it was awake without a parent
	SourceRunning Source = "running" // it was awake and adopted already
	SourceStarted Source = "started"
)

// Mutate requests a change of the topology.
type Mutate struct {
	Ops jsontext.Value `json:"ops"`
}

// Step identifies a step of a mutation.
type Step struct {
	MutationID string `json:"mutation_id"`
	Step       uint64 `json:"step"` // from 0
}

// Request returns the step's request id. All callers use the same one, so each
// step has one turn.
func (s Step) Request() agent.Request {
	return agent.Request{Client: agent.MutationClient + s.MutationID, Seq: s.Step + 1}
}

// Progress is the progress of a mutation.
type Progress struct {
	Step           // the next one, if Report is nil
	Report *Report `json:"report,omitempty"`
}

// StopAll requests that all nodes of a pod stop.
type StopAll struct {
	Teardown bool `json:"teardown,omitempty"` // permanently: a running mutation ends
}

// Rested is the result of StopAll: what is stored of the pod's nodes.
type Rested struct {
	Index    uint64             `json:"index"` // of all revisions and revs
	Nodes    map[string]Stored  `json:"nodes"` // :: key of the instance, including nodes of nested pods
	Stopped  []string           `json:"stopped"`
	Failures map[string]Failure `json:"failures"` // :: node → why it did not stop
	Abridged bool               `json:"abridged,omitempty"`
}

// Stored is the stored version of a node.
type Stored struct {
	Manager  string `json:"manager"`
	Revision uint64 `json:"revision"` // of its checkpoint
	Rev      uint64 `json:"rev"`      // of its thread
}

// Fork requests a copy of the pod as it is stored.
type Fork struct {
	Key string `json:"key"` // of the new pod, of the same manager
}

// Forked is the result of Fork. The new pod and its nodes are dormant.
type Forked struct {
	Key   string `json:"key"`
	Index uint64 `json:"index"` // of the copied state
	Nodes int    `json:"nodes"` // with stored state, including nodes of nested pods
}

// reportBytesMax is the maximum size of a report within a recorded reply.
const reportBytesMax = agent.SignalReplyBytesMax - 1<<10

// Reply encodes a reply. A reply above reportBytesMax is abridged.
func Reply(v any) (agent.JSON, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "encode a pod's reply: %v", err)
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
		return nil, agent.Errorf(agent.CodeInternal, "a pod's reply has %d bytes, which is too large", len(raw))
	}
}

// abridgedMax is the length of a list in an abridged reply.
const abridgedMax = 16

func firstNames(names []string) []string { return names[:min(len(names), abridgedMax)] }

func firstFailures(all map[string]Failure) map[string]Failure {
	some := map[string]Failure{}
	for _, name := range firstNames(slices.Sorted(maps.Keys(all))) {
		some[name] = all[name]
	}
	return some
}

// failureOf returns the error of failures, or nil if there are none. Its reason
// is the code of the first failure.
func failureOf(code agent.Code, stage string, failures map[string]Failure) error {
	if len(failures) == 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(failures[a].Stage, failures[b].Stage), cmp.Compare(a, b))
	})
	var texts []string
	for _, name := range firstNames(names) {
		f := failures[name]
		texts = append(texts, fmt.Sprintf("node %q at %s: %s: %s", name, f.Stage, f.Code, f.Detail))
	}
	e := agent.Errorf(code, "%s: %d nodes failed: %s", stage, len(names), strings.Join(texts, "; "))
	e.Reason = string(failures[names[0]].Code)
	return e
}
