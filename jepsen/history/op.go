// Package history is the record of a run: every call with its invocation and
// its return, every fault, written to a file as they happen, so that a run
// which is interrupted can still be judged, and an old one judged again.
package history

import (
	"encoding/json"
	"time"
)

// Outcome is what became of a call. The three are DESIGN's, never mixed up.
type Outcome string

const (
	// OK says that the call took effect between its invocation and its return.
	OK Outcome = "ok"
	// Refused says that it surely took no effect, nor ever will. A read that failed is
	// refused too.
	Refused Outcome = "refused"
	// Unknown says that it may have taken effect, or may yet. A call that never
	// returned is unknown.
	Unknown Outcome = "unknown"
)

// Op is one call. Times count from the start of the run, by the harness's own
// monotonic clock, which no fault touches.
type Op struct {
	ID       int64           `json:"id"`
	Workload string          `json:"workload"`
	Process  int             `json:"process"`        // the calls of a process never overlap
	Node     string          `json:"node,omitempty"` // the node that the process is bound to; "" for any
	Call     string          `json:"call"`           // what was called, in the workload's words
	Key      string          `json:"key"`            // the object; what checkers partition by
	In       json.RawMessage `json:"in,omitempty"`
	Out      json.RawMessage `json:"out,omitempty"` // of an ok call
	Invoke   time.Duration   `json:"invoke"`
	Return   time.Duration   `json:"return"` // the end of time (Never) for one that is unknown or never returned
	Outcome  Outcome         `json:"outcome"`
	Code     string          `json:"code,omitempty"`   // the error code of one that is not ok
	Detail   string          `json:"detail,omitempty"` // its text
}

// Never is the return of a call that is unknown: it may take effect at any
// time after its invocation.
const Never = time.Duration(1<<63 - 1)

// EventKind says what an Event tells.
type EventKind string

const (
	// EventFault begins a fault.
	EventFault EventKind = "fault"
	// EventHeal ends the fault of the same Name and Step.
	EventHeal EventKind = "heal"
	// EventLeader says that Node was seen to lead, in Term.
	EventLeader EventKind = "leader"
	// EventExit says that the process of Node ended; Detail says how.
	EventExit EventKind = "exit"
	// EventSample has a node's goroutines, descriptors, memory, term and index, in Data.
	EventSample EventKind = "sample"
	// EventNote is anything else that a reader should know.
	EventNote EventKind = "note"
	// EventPhase begins the phase Name: "start", "faults", "heal", "final", "end".
	EventPhase EventKind = "phase"
)

// Event is something that happened beside the calls.
type Event struct {
	At     time.Duration   `json:"at"`
	Kind   EventKind       `json:"kind"`
	Name   string          `json:"name,omitempty"`
	Step   int             `json:"step,omitempty"` // number of the plan's step, from 1
	Node   string          `json:"node,omitempty"`
	Term   uint64          `json:"term,omitempty"`
	Detail string          `json:"detail,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// Header is what a run was.
type Header struct {
	Format    int             `json:"format"`
	Workloads []string        `json:"workloads"`
	Nemeses   []string        `json:"nemeses"`
	Seed      uint64          `json:"seed"`
	Nodes     int             `json:"nodes"`
	Time      time.Duration   `json:"time"`
	Started   time.Time       `json:"started"`
	Run       string          `json:"run"`           // in the names of the scopes that it called
	Command   string          `json:"command"`       // repeats the run
	Build     string          `json:"build"`         // version of dormoused
	Bug       string          `json:"bug,omitempty"` // the seeded one, if there is one
	Plan      json.RawMessage `json:"plan,omitempty"`
}

// History is a run read back.
type History struct {
	Header Header
	Ops    []Op // by invocation
	Events []Event
	Cut    bool // the file ends in the middle: the run was interrupted
}

// Of gives the history of one workload alone; Events and Header are shared.
func (h *History) Of(workload string) *History {
	out := &History{Header: h.Header, Events: h.Events, Cut: h.Cut}
	for _, op := range h.Ops {
		if op.Workload == workload {
			out.Ops = append(out.Ops, op)
		}
	}
	return out
}

// ByKey splits the calls by their object, keeping their order.
func (h *History) ByKey() map[string][]Op {
	keys := map[string][]Op{}
	for _, op := range h.Ops {
		keys[op.Key] = append(keys[op.Key], op)
	}
	return keys
}

// Format is the version of the file's format.
const Format = 1

// finish notes how a call ended.
func (op *Op) finish(e ending) {
	op.Outcome, op.Out, op.Code, op.Detail, op.Return = e.Outcome, e.Out, e.Code, e.Detail, e.At
	if e.Outcome == Unknown {
		op.Return = Never
	}
}
