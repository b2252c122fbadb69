package claim

import (
	"fmt"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// Draw adds porcupine's pictures of the calls to the findings of this claim.
func (c *Claimed) Draw(findings []check.Finding) {
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
		picture, err := model.Claims().Picture(part, false, workload.ShortestMax)
		if err != nil {
			f.Detail += fmt.Sprintf(" (there is no picture: %v)", err)
			continue
		}
		f.Picture = picture
	}
}

// drawn returns a call in the form of the model of claims. A refused call has no
// epoch.
func (c *Claimed) drawn(call int) model.Call {
	op := c.Ops[call]
	in := &model.ClaimCall{Name: fmt.Sprintf("%s %d", op.Call, op.ID)}
	out := model.Call{Span: model.Span{Invoke: op.Invoke, Return: op.Return}, Process: op.Process, In: in, Tag: call}
	if op.Outcome == history.Unknown {
		return out
	}
	out.Out = op.Outcome
	switch made, got := c.Changes[call], c.Gets[call]; {
	case op.Outcome == history.Refused:
		in.Name += ", refused"
	case c.Begun(call) > 0:
		in.Epoch, in.Begins = c.Begun(call), true
	case made != nil && made.Does == DoesRelease:
		in.Epoch, in.Ends = made.In.Epoch, true
	case got != nil:
		in.Epoch = got.Epoch
	default:
		in.Epoch, _ = c.under(call)
	}
	return out
}
