package pod

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// SlotName is the member of a pod's state that is the store's: the rest is the
// pod's own.
const SlotName = "__pod__"

// Slot is what a pod's state says of the pod.
type Slot struct {
	Topology        Topology       `json:"topology"`
	TopologyVersion uint64         `json:"topology_version"` // the topology's own
	Mutation        Mutation       `json:"mutation"`
	Metadata        jsontext.Value `json:"metadata,omitempty"`

	Run     string                `json:"life,omitempty"`  // names the pod's awakening that stored it
	Parents map[string]ParentLink `json:"bound,omitempty"` // :: node → whom it hangs under
}

// Mutation is the newest change of a pod's topology. While it runs, Removed says
// what is to be stopped, so that whoever comes after a runner that died can go
// on: the nodes are in the topology no more. Step counts the waves that are
// done: those of Stop, then those in which Start starts.
type Mutation struct {
	ID      string          `json:"id,omitempty"` // a UUIDv7; "" before the first one
	Status  MutationStatus  `json:"status"`
	Ops     []Op            `json:"ops,omitempty"`
	Added   []string        `json:"added,omitempty"`
	Removed map[string]Node `json:"removed,omitempty"`
	Start   []string        `json:"start,omitempty"`
	Stop    [][]string      `json:"stop,omitempty"`
	Step    uint64          `json:"step,omitempty"`
	Outcome *Outcome        `json:"outcome,omitempty"` // of the steps that are done
	Report  *Report         `json:"report,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// MutationStatus says how far a mutation is.
type MutationStatus string

// The statuses of mutations.
const (
	MutationIdle      MutationStatus = "idle"
	MutationRunning   MutationStatus = "running"
	MutationCompleted MutationStatus = "completed"
	MutationFailed    MutationStatus = "failed"
)

// Report is what came of a mutation.
type Report struct {
	MutationID      string             `json:"mutation_id"`
	Status          MutationStatus     `json:"status"`
	TopologyVersion uint64             `json:"topology_version"`
	RequestedOps    []Op               `json:"requested_ops"`
	Added           []string           `json:"added"`
	Removed         []string           `json:"removed"`
	Started         []string           `json:"started"` // of Added, those that are awake now
	Stopped         []string           `json:"stopped"` // of Removed, those that are not
	Failures        map[string]Failure `json:"failures"`
	Abridged        bool               `json:"abridged,omitempty"` // lists were left out: the pod's state has them
}

// NewSlot is the slot of a pod that has just been made.
func NewSlot(t Topology) Slot {
	return Slot{Topology: t, TopologyVersion: t.Version, Mutation: Mutation{Status: MutationIdle}}
}

// ReadSlot is the slot of a pod's state; false where it has none, and so is no
// pod's. A slot that cannot be read is corrupt, never taken for a new one.
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

// AddTo is the state with the slot in it, in place of the one that may be there;
// nothing else of it changes.
func (s Slot) AddTo(state agent.JSON) (agent.JSON, error) {
	rest, err := agent.MergePatch(state, agent.JSON(`{"`+SlotName+`":null}`))
	if err != nil {
		return nil, err
	}
	slot, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "encode the slot of a pod: %v", err)
	}
	out := append(agent.JSON(nil), rest[:len(rest)-1]...)
	if len(rest) > len(`{}`) {
		out = append(out, ',')
	}
	out = append(out, `"`+SlotName+`":`...)
	return append(append(out, slot...), '}'), nil
}

// Begin is the slot once a mutation has begun: the new topology is in it, with
// what is still to be done, and it is to be stored before any of that is done.
// While another one runs it is mutation_in_progress: see Resume.
func (s Slot) Begin(id string, ops []Op) (Slot, error) {
	if s.Mutation.Status == MutationRunning {
		e := agent.Errorf(agent.CodeMutationInProgress, "mutation %s of this pod is running: wait until it has ended, or resume it where its runner has died", s.Mutation.ID)
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

// Running is what a mutation that runs still has to do; false where none does.
// Starting and stopping are safe to do again, so it is all of it.
func (s Slot) Running() (Mutation, bool) {
	return s.Mutation, s.Mutation.Status == MutationRunning
}

// Wave is what a mutation does in one step.
type Wave struct {
	Stop  bool // the nodes are to be stopped, else started
	Nodes []string
}

// Wave is the step that a mutation is at; false where it has done all of them.
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

// Advance is the slot once the mutation's wave has been done, and the report
// where that was the last one: a wave of starts that failed is. What was stopped
// in vain does not keep the rest from being done.
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

// Finish is the slot once the mutation of that id has ended, and its report. The
// topology stays as it is, whatever failed; the next mutation may begin. Where
// another one is the newest, conflict: somebody else has ended this one.
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

// Outcome is what a mutation's runner did.
type Outcome struct {
	Started  []string           `json:"started,omitempty"`
	Stopped  []string           `json:"stopped,omitempty"`
	Failures map[string]Failure `json:"failures,omitempty"`
}

// merge is the outcome, and what was done after it.
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

// Failure is why something could not be done to a node.
type Failure struct {
	Stage  Stage      `json:"stage"`
	Code   agent.Code `json:"code"`
	Detail string     `json:"detail"`
}

// Stage says what failed.
type Stage string

// The stages.
const (
	StageStart  Stage = "start"
	StageAdopt  Stage = "adopt" // it hangs under another: misplaced
	StageStop   Stage = "stop"
	StageNested Stage = "nested_reconcile" // of a node that is a pod: its own nodes
)
