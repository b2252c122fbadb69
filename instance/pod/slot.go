package pod

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// SlotName is the member of a pod's state that holds the slot. Programs own the
// other members.
const SlotName = "__pod__"

// Slot is the stored description of a pod.
type Slot struct {
	Topology        Topology       `json:"topology"`
	TopologyVersion uint64         `json:"topology_version"` // of Topology
	Mutation        Mutation       `json:"mutation"`
	Metadata        jsontext.Value `json:"metadata,omitempty"`

	Run     string                `json:"life,omitempty"`  // the pod's run that stored the slot
	Parents map[string]ParentLink `json:"bound,omitempty"` // :: node → its parent
}

// Mutation is the newest mutation of a pod. While it runs, Removed has the
// nodes to stop, which the topology no longer has, so that another runner can
// continue it. Step counts the finished waves: first those of Stop, then those
// of Start.
type Mutation struct {
	ID      string          `json:"id,omitempty"` // a UUIDv7; "" before the first mutation
	Status  MutationStatus  `json:"status"`
	Ops     []Op            `json:"ops,omitempty"`
	Added   []string        `json:"added,omitempty"`
	Removed map[string]Node `json:"removed,omitempty"`
	Start   []string        `json:"start,omitempty"`
	Stop    [][]string      `json:"stop,omitempty"`
	Step    uint64          `json:"step,omitempty"`
	Outcome *Outcome        `json:"outcome,omitempty"` // of the finished steps
	Report  *Report         `json:"report,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// MutationStatus is the status of a mutation.
type MutationStatus string

// The statuses of mutations.
const (
	MutationIdle      MutationStatus = "idle"
	MutationRunning   MutationStatus = "running"
	MutationCompleted MutationStatus = "completed"
	MutationFailed    MutationStatus = "failed"
)

// Report is the result of a mutation.
type Report struct {
	MutationID      string             `json:"mutation_id"`
	Status          MutationStatus     `json:"status"`
	TopologyVersion uint64             `json:"topology_version"`
	RequestedOps    []Op               `json:"requested_ops"`
	Added           []string           `json:"added"`
	Removed         []string           `json:"removed"`
	Started         []string           `json:"started"` // the nodes of Added that are awake
	Stopped         []string           `json:"stopped"` // the nodes of Removed that are stopped
	Failures        map[string]Failure `json:"failures"`
	Abridged        bool               `json:"abridged,omitempty"` // lists were shortened: the pod's state has all
}

// NewSlot returns the slot of a new pod.
func NewSlot(t Topology) Slot {
	return Slot{Topology: t, TopologyVersion: t.Version, Mutation: Mutation{Status: MutationIdle}}
}

// ReadSlot returns the slot of a pod's state, or false if the state has none. A
// damaged slot is corrupt.
func ReadSlot(state agent.JSON) (s Slot, ok bool, err error) {
	var members struct {
		Pod *Slot `json:"__pod__"`
	}
	if err := json.Unmarshal(state, &members); err != nil {
		return Slot{}, false, agent.Errorf(agent.CodeCorrupt, "the member %s of the state: %v", SlotName, err)
	}
	if members.Pod == nil {
		return Slot{}, false, nil
	}
	s = *members.Pod
	if err := s.Topology.Validate(); err != nil {
		return Slot{}, false, agent.Errorf(agent.CodeCorrupt, "the member %s of the state: %v", SlotName, err)
	}
	return s, true, nil
}

// AddTo returns the state with the slot added or replaced. Other members are
// unchanged.
func (s Slot) AddTo(state agent.JSON) (agent.JSON, error) {
	rest, err := agent.MergePatch(state, agent.JSON(`{"`+SlotName+`":null}`))
	if err != nil {
		return nil, err
	}
	slot, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "encode a pod's slot: %v", err)
	}
	out := append(agent.JSON(nil), rest[:len(rest)-1]...)
	if len(rest) > len(`{}`) {
		out = append(out, ',')
	}
	out = append(out, `"`+SlotName+`":`...)
	return append(append(out, slot...), '}'), nil
}

// Begin returns the slot with a new running mutation: the new topology and the
// remaining work. The caller must store it before it starts or stops nodes.
// While another mutation runs, Begin returns mutation_in_progress.
func (s Slot) Begin(id string, ops []Op) (Slot, error) {
	if s.Mutation.Status == MutationRunning {
		e := agent.Errorf(agent.CodeMutationInProgress, "mutation %s of this pod is running: wait until it has ended; if its runner died, get the pod to finish it", s.Mutation.ID)
		e.Reason = s.Mutation.ID
		return s, e
	}
	plan, err := s.Topology.Plan(ops)
	if err != nil {
		return s, err
	}
	s.Topology, s.TopologyVersion = plan.Topology, plan.Topology.Version
	s.Mutation = Mutation{
		ID: id, Status: MutationRunning, Ops: ops,
		Added: plan.Added, Removed: plan.Removed, Start: plan.Start, Stop: plan.Stop,
	}
	return s, nil
}

// Running returns the running mutation, or false. Its runner may repeat any
// step, because starting and stopping a node twice is safe.
func (s Slot) Running() (Mutation, bool) {
	return s.Mutation, s.Mutation.Status == MutationRunning
}

// Wave is the work of one step of a mutation.
type Wave struct {
	Stop  bool // stop the nodes; false: start them
	Nodes []string
}

// Wave returns the current step of the mutation, or false after the last one.
func (s Slot) Wave() (Wave, bool, error) {
	waves, err := s.Topology.Waves(s.Mutation.Start)
	if err != nil {
		return Wave{}, false, err
	}
	n := s.Mutation.Step
	stops := uint64(len(s.Mutation.Stop))
	switch {
	case n < stops:
		return Wave{Stop: true, Nodes: s.Mutation.Stop[n]}, true, nil
	case n-stops < uint64(len(waves)):
		return Wave{Nodes: waves[n-stops]}, true, nil
	default:
		return Wave{}, false, nil
	}
}

// Advance returns the slot after the mutation's current wave, and the report if
// the mutation has ended. A failure to start a node ends the mutation; a
// failure to stop one does not.
func (s Slot) Advance(done Outcome) (Slot, *Report, error) {
	wave, _, err := s.Wave()
	if err != nil {
		return s, nil, err
	}
	s.Mutation.Step++
	s.Mutation.Outcome = s.Mutation.Outcome.merge(done)
	_, more, err := s.Wave()
	if err != nil {
		return s, nil, err
	}
	if more && (wave.Stop || len(done.Failures) == 0) {
		return s, nil, nil
	}
	s, report, err := s.Finish(s.Mutation.ID)
	return s, &report, err
}

// Finish returns the slot after the mutation with this id has ended, and its
// report. The topology stays, even after failures, and the next mutation may
// begin. If that mutation is not running, Finish returns conflict.
func (s Slot) Finish(id string) (Slot, Report, error) {
	if s.Mutation.ID != id || s.Mutation.Status != MutationRunning {
		return s, Report{}, agent.Errorf(agent.CodeConflict, "mutation %s is not running: the newest is %s, %s", id, s.Mutation.ID, s.Mutation.Status)
	}
	m := s.Mutation
	done := m.Outcome.merge(Outcome{})
	report := Report{
		MutationID: id, Status: MutationCompleted, TopologyVersion: s.TopologyVersion, RequestedOps: m.Ops,
		Added: m.Added, Removed: slices.Sorted(maps.Keys(m.Removed)),
		Started: done.Started, Stopped: done.Stopped, Failures: done.Failures,
	}
	if len(done.Failures) > 0 {
		report.Status = MutationFailed
	}
	s.Mutation = Mutation{ID: id, Status: report.Status, Report: &report}
	return s, report, nil
}

// Abort returns the slot after its running mutation was ended before its last
// wave, because the pod is stopped. done is the result of stopping all nodes that
// the mutation removed. Each node that the mutation has not started is a failure.
func (s Slot) Abort(done Outcome) (Slot, error) {
	before := s.Mutation.Outcome.merge(Outcome{})
	ended := Outcome{Started: before.Started, Stopped: done.Stopped, Failures: before.Failures}
	for _, node := range done.Stopped { // also those that an earlier wave could not stop
		delete(ended.Failures, node)
	}
	for _, node := range s.Mutation.Start {
		if !slices.Contains(before.Started, node) {
			ended.Failures[node] = Failure{Stage: StageStart, Code: agent.CodeConflict, Detail: "the pod was stopped before the mutation started this node"}
		}
	}
	maps.Copy(ended.Failures, done.Failures)
	s.Mutation.Outcome = &ended
	s, _, err := s.Finish(s.Mutation.ID)
	return s, err
}

// Outcome is the result of one or more waves.
type Outcome struct {
	Started  []string           `json:"started,omitempty"`
	Stopped  []string           `json:"stopped,omitempty"`
	Failures map[string]Failure `json:"failures,omitempty"`
}

// merge returns the outcome of both.
func (o *Outcome) merge(next Outcome) *Outcome {
	both := Outcome{Failures: map[string]Failure{}}
	for _, part := range []*Outcome{o, &next} {
		if part != nil {
			both.Started, both.Stopped = append(both.Started, part.Started...), append(both.Stopped, part.Stopped...)
			maps.Copy(both.Failures, part.Failures)
		}
	}
	slices.Sort(both.Started)
	slices.Sort(both.Stopped)
	return &both
}

// Failure is why an operation on a node failed.
type Failure struct {
	Stage  Stage      `json:"stage"`
	Code   agent.Code `json:"code"`
	Detail string     `json:"detail"`
}

// Stage is the operation that failed.
type Stage string

// The stages.
const (
	StageStart  Stage = "start"
	StageAdopt  Stage = "adopt" // it has another parent: misplaced
	StageStop   Stage = "stop"
	StageNested Stage = "nested_reconcile" // a nested pod: the nodes of that pod
)
