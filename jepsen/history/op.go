// Package history is the record of a run: every call with its invocation and its
// return, and every fault. It is written to a file as the run goes on. So an
// interrupted run can still be judged, and an old run judged again.
package history

import (
	"encoding/json"
	"time"
)

// Outcome is the outcome of a call. The three are never mixed up.
type Outcome string

const (
	// OK means that the call took effect between its invocation and its return.
	OK Outcome = "ok"
	// Refused means that the call took no effect and never will. Failed reads are
	// refused too.
	Refused Outcome = "refused"
	// Unknown means that the call may have taken effect, or may take effect later. A
	// call that never returned is unknown.
	Unknown Outcome = "unknown"
)

// Op is one call. Times count from the start of the run on the harness's monotonic
// clock, which no fault affects.
type Op struct {
	ID       int64           `json:"id"`
	Workload string          `json:"workload"`
	Process  int             `json:"process"`            // the calls of a process never overlap
	Node     string          `json:"node,omitempty"`     // the node that the process is bound to; "" for any
	Via      string          `json:"via,omitempty"`      // what the process calls with: "http", …; "" for the Go client
	Call     string          `json:"call"`               // the workload's name of the call
	Key      string          `json:"key"`                // the object; checkers partition by it
	Patience time.Duration   `json:"patience,omitempty"` // when the caller cancels early on purpose, to get an unknown outcome; 0 if it does not
	In       json.RawMessage `json:"in,omitempty"`
	Out      json.RawMessage `json:"out,omitempty"` // of an ok call
	Invoke   time.Duration   `json:"invoke"`
	Return   time.Duration   `json:"return"` // Never if the outcome is unknown
	Outcome  Outcome         `json:"outcome"`
	Code     string          `json:"code,omitempty"`   // the error code, if the call is not ok
	Detail   string          `json:"detail,omitempty"` // the error text
}

// Never is the return time of an unknown call: it may take effect at any time after
// its invocation.
const Never = time.Duration(1<<63 - 1)

// EventKind is the kind of an Event.
type EventKind string

const (
	// EventFault is the start of a fault.
	EventFault EventKind = "fault"
	// EventHeal is the end of the fault with the same Name and Step.
	EventHeal EventKind = "heal"
	// EventLeader records that Node was observed as leader of Term.
	EventLeader EventKind = "leader"
	// EventExit records that the process of Node ended; Detail says how.
	EventExit EventKind = "exit"
	// EventSample has a node's goroutines, descriptors, memory, term and index, in Data.
	EventSample EventKind = "sample"
	// EventNote is other information.
	EventNote EventKind = "note"
	// EventPhase is the start of the phase Name: "start", "faults", "heal", "final",
	// "end".
	EventPhase EventKind = "phase"
)

// Event is an event other than a call.
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

// Header describes a run.
type Header struct {
	Format    int             `json:"format"`
	Workloads []string        `json:"workloads"`
	Nemeses   []string        `json:"nemeses"`
	Seed      uint64          `json:"seed"`
	Nodes     int             `json:"nodes"`
	Time      time.Duration   `json:"time"`
	Started   time.Time       `json:"started"`
	Run       string          `json:"run"`              // id of the run, part of the names of its scopes
	Command   string          `json:"command"`          // repeats the run
	Build     string          `json:"build"`            // version of dormoused
	Bug       string          `json:"bug,omitempty"`    // the seeded bug, if any
	Timing    string          `json:"timing,omitempty"` // cluster.timing of all nodes; "" if each build has its default
	Plan      json.RawMessage `json:"plan,omitempty"`
	Rows      bool            `json:"rows,omitempty"` // all nodes were built with the harness, so each can tell the hash of its rows

	Settings map[string]map[string]string `json:"settings,omitempty"` // :: node → its own settings, as environment variables
}

// History is the record of a run, read from its file.
type History struct {
	Header Header
	Ops    []Op // by invocation
	Events []Event
	Cut    bool // the file is incomplete: the run was interrupted
}

// Of returns the history of one workload; it shares Events and Header.
func (h *History) Of(workload string) *History {
	out := &History{Header: h.Header, Events: h.Events, Cut: h.Cut}
	for _, op := range h.Ops {
		if op.Workload == workload {
			out.Ops = append(out.Ops, op)
		}
	}
	return out
}

// ByKey groups the calls by object and keeps their order.
func (h *History) ByKey() map[string][]Op {
	keys := map[string][]Op{}
	for _, op := range h.Ops {
		keys[op.Key] = append(keys[op.Key], op)
	}
	return keys
}

// Format is the version of the file's format.
const Format = 1

// Hurried reports whether the call failed because its caller cancelled it early on
// purpose. A node is told of less time than the caller has, and refuses a call at the end
// of that: so half of it is enough.
func (op *Op) Hurried() bool {
	return op.Patience > 0 && (op.Outcome == Unknown || op.Return-op.Invoke >= op.Patience/2)
}

// finish sets the outcome of a call.
func (op *Op) finish(e ending) {
	op.Outcome, op.Out, op.Code, op.Detail, op.Return = e.Outcome, e.Out, e.Code, e.Detail, e.At
	if e.Outcome == Unknown {
		op.Return = Never
	}
}
