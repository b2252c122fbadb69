package model

import (
	"bytes"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// Call is one call on one object.
type Call struct {
	Span
	Process int
	In      any
	Out     any // nil if the outcome is unknown: then Return is history.Never
	Tag     int // set by the caller to identify the call
}

// Linear is the sequential specification of an object. States are compared with ==.
type Linear struct {
	// Init is the state before the first call.
	Init any
	// Search starts a search among calls and returns its step. The step returns the
	// state after a call, and whether out is a possible answer. If out is nil the call
	// is always possible in the end, without an effect; before that, step may delay
	// such a call by returning false. step must not change its arguments.
	Search func(calls []Call) (step func(state, in, out any) (any, bool))
	// Effect reports whether a call may have changed the object.
	Effect func(in, out any) bool
	// Any is a state about which nothing is known. In it step accepts every answer,
	// and moves to the state that an answer reveals. Tells reports which answers
	// reveal the state.
	Any   any
	Tells func(in, out any) bool
	// Describe returns a call as text.
	Describe func(in, out any) string
}

// Judgement is the result of a search for an order.
type Judgement int

const (
	// Explained means that an order of the calls explains all answers and keeps real
	// time.
	Explained Judgement = iota
	// Contradicted means that there is no such order.
	Contradicted
	// OutOfTime means that the search did not finish in time.
	OutOfTime
)

// Judge searches for an order of the calls, for at most the given time.
func (l Linear) Judge(calls []Call, within time.Duration) Judgement {
	return l.judge(l.Init, calls, within)
}

func (l Linear) judge(init any, calls []Call, within time.Duration) Judgement {
	if within <= 0 {
		return OutOfTime
	}
	switch porcupine.CheckOperationsTimeout(l.porcupine(init, calls), operations(calls), within) {
	case porcupine.Ok:
		return Explained
	case porcupine.Illegal:
		return Contradicted
	default:
		return OutOfTime
	}
}

// Picture returns porcupine's HTML page of the calls, which shows how far each
// attempted order gets. whole means that calls begin with the object's first call;
// otherwise the state before them is unknown.
func (l Linear) Picture(calls []Call, whole bool, within time.Duration) ([]byte, error) {
	model := l.porcupine(l.begin(whole), calls)
	_, info := porcupine.CheckOperationsVerbose(model, drawn(calls), within)
	var page bytes.Buffer
	if err := porcupine.Visualize(model, info, &page); err != nil {
		return nil, fmt.Errorf("draw the calls: %w", err)
	}
	return page.Bytes(), nil
}

func (l Linear) begin(whole bool) any {
	if whole {
		return l.Init
	}
	return l.Any
}

func (l Linear) porcupine(init any, calls []Call) porcupine.Model {
	step := l.Search(calls)
	return porcupine.Model{
		Init: func() any { return init },
		Step: func(state, in, out any) (bool, any) {
			next, ok := step(state, in, out)
			return ok, next
		},
		DescribeOperation: func(in, out any) string { return l.Describe(in, out) },
	}
}

func operations(calls []Call) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(calls))
	for i, c := range calls {
		ops[i] = porcupine.Operation{ClientId: c.Process, Input: c.In, Call: int64(c.Invoke), Output: c.Out, Return: int64(c.Return)}
	}
	return ops
}

// drawn is like operations, but gives each unknown call a line of its own. An unknown
// call never ends and would overlap later calls of its process.
func drawn(calls []Call) []porcupine.Operation {
	ops := operations(calls)
	lines := map[int]int{} // :: process → its line
	for i := range calls {
		if _, known := lines[calls[i].Process]; !known {
			lines[calls[i].Process] = len(lines)
		}
		ops[i].ClientId = lines[calls[i].Process]
	}
	extra := len(lines)
	for i := range calls {
		if calls[i].Out == nil {
			ops[i].ClientId = extra
			extra++
		}
	}
	return ops
}
