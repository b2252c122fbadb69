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
	Out     any // nil where the outcome is unknown: then Return is history.Never
	Tag     int // the caller's own, to find it again
}

// Linear is what an object does when its calls come one after another. States
// are compared with ==.
type Linear struct {
	// Init is the object before the first call.
	Init any
	// Search begins a search among calls, and gives its step: what the state
	// becomes by a call, and whether out can be its answer. An out of nil always
	// can in the end, without effect; before that, step may put such a call off
	// by saying no. It must not change its arguments.
	Search func(calls []Call) (step func(state, in, out any) (any, bool))
	// Effect reports whether a call may have changed the object.
	Effect func(in, out any) bool
	// Any is a state of which nothing is known: step takes every answer, and
	// leaves it for the state that an answer tells. Tells says which do.
	Any   any
	Tells func(in, out any) bool
	// Describe shows a call to people.
	Describe func(in, out any) string
}

// Judgement says what became of a search for an order.
type Judgement int

const (
	// Explained says that there is an order of the calls that explains all answers and
	// keeps real time.
	Explained Judgement = iota
	// Contradicted says that there is none.
	Contradicted
	// OutOfTime says that the search did not end in time.
	OutOfTime
)

// Judge looks for an order of the calls, for so long at most.
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

// Picture is porcupine's page of the calls: how far the attempts at an order
// get. whole says that they begin with the object's first; else nothing is
// known of what was before.
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

// drawn is operations with each call on a line where it overlaps no other: an
// unknown one goes on forever, while its process makes others.
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
