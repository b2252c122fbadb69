package register

import (
	"math"

	"dormouse/jepsen/model"
)

// direct judges a key's calls by their answers alone: incarnation and revision place
// most of them. It is fast for any history, and its findings name the problem. It
// leaves the effects of unknown calls, and the implications of contents and refusals,
// to the search for an order. It reports whether it found anything.
func (k *registerKey) direct() bool {
	var placed []model.Placed
	for _, c := range k.calls {
		in, out := c.In.(*model.RegisterCall), answerOf(c)
		if out == nil || out.Incarnation == 0 || out.Refused != "" {
			continue
		}
		at := model.Position{Incarnation: out.Incarnation, Version: out.Revision}
		p := model.Placed{Span: c.Span, Before: at, After: at, Tag: c.Tag}
		switch in.Name {
		case model.RegisterGet:
		case model.RegisterDelete:
			p.Before.Version, p.After.Version = math.MaxUint64, math.MaxUint64
		default:
			p.Before.Version--
			k.wrote(at, c)
		}
		placed = append(placed, p)
	}
	for _, c := range k.calls {
		k.judgeContent(c)
	}
	for _, b := range model.GoneBack(placed) {
		earlier, later := k.ops[b.Earlier.Tag], k.ops[b.Later.Tag]
		rule := "stale read"
		if b.Forever || later.Call != model.RegisterGet {
			rule = "lost write"
		}
		k.add(rule, []int{b.Earlier.Tag, b.Later.Tag}, "call %d had returned and seen %v, and call %d, invoked later, found at most %v",
			earlier.ID, b.Earlier.After, later.ID, b.Later.Before)
	}
	return k.broken
}

// wrote records that an answered call wrote at a position.
func (k *registerKey) wrote(at model.Position, c model.Call) {
	if other, taken := k.writers[at]; taken {
		k.add("two writes at one revision", []int{other.Tag, c.Tag}, "calls %d and %d both wrote, by their answers, revision %d of incarnation %d",
			k.ops[other.Tag].ID, k.ops[c.Tag].ID, at.Version, at.Incarnation)
	}
	k.writers[at] = c
}

// judgeContent checks that a read at a revision returns what was put there.
func (k *registerKey) judgeContent(c model.Call) {
	out := answerOf(c)
	if out == nil || out.Refused != "" || c.In.(*model.RegisterCall).Name != model.RegisterGet {
		return
	}
	writer, known := k.writers[model.Position{Incarnation: out.Incarnation, Version: out.Revision}]
	if !known {
		return
	}
	put := writer.In.(*model.RegisterCall)
	if put.Name == model.RegisterPut && put.Content != out.Content {
		k.add("another content", []int{writer.Tag, c.Tag}, "call %d put %v as revision %d, where call %d read %v",
			k.ops[writer.Tag].ID, put.Content, out.Revision, k.ops[c.Tag].ID, out.Content)
	}
}

// answerOf returns a call's answer, or nil if it is unknown.
func answerOf(c model.Call) *model.RegisterOut {
	out, _ := c.Out.(*model.RegisterOut)
	return out
}
