package workload

import (
	"fmt"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// draw adds porcupine's pictures of the calls to findings of this claim.
func (c *claimed) draw(findings []check.Finding) {
	place := make(map[int64]int, len(c.Ops))
	for call, op := range c.Ops {
		place[op.ID] = call
	}
	for i := range findings {
		f := &findings[i]
		var part []model.Call
		for _, op := range f.Ops {
			part = append(part, c.drawn(place[op.ID]))
		}
		picture, err := model.Claims().Picture(part, false, ShortestMax)
		if err != nil {
			f.Detail += fmt.Sprintf(" (there is no picture: %v)", err)
			continue
		}
		f.Picture = picture
	}
}

// drawn is a call as the model of claims has it. One that was refused says
// nothing of a holding.
func (c *claimed) drawn(call int) model.Call {
	op := c.Ops[call]
	in := &model.ClaimCall{Name: fmt.Sprintf("%s %d", op.Call, op.ID)}
	out := model.Call{Span: model.Span{Invoke: op.Invoke, Return: op.Return}, Process: op.Process, In: in, Tag: call}
	if op.Outcome == history.Unknown {
		return out
	}
	out.Out = op.Outcome
	switch made, got := c.changes[call], c.gets[call]; {
	case op.Outcome == history.Refused:
		in.Name += ", refused"
	case c.begun(call) > 0:
		in.Epoch, in.Begins = c.begun(call), true
	case made != nil && made.does == doesRelease:
		in.Epoch, in.Ends = made.in.Epoch, true
	case got != nil:
		in.Epoch = got.Epoch
	default:
		in.Epoch, _ = c.under(call)
	}
	return out
}
