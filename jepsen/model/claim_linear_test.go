package model_test

import (
	"testing"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

func TestEpochsOnlyGrow(t *testing.T) {
	call := func(from, to int, in model.ClaimCall) model.Call {
		return model.Call{Span: model.Span{Invoke: time.Duration(from), Return: time.Duration(to)}, Process: from, In: &in, Out: true}
	}
	take := func(from, to int, epoch uint64) model.Call {
		return call(from, to, model.ClaimCall{Name: "take", Epoch: epoch, Begins: true})
	}
	release := func(from, to int, epoch uint64) model.Call {
		return call(from, to, model.ClaimCall{Name: "release", Epoch: epoch, Ends: true})
	}
	write := func(from, to int, epoch uint64) model.Call {
		return call(from, to, model.ClaimCall{Name: "write", Epoch: epoch})
	}
	unknown := func(c model.Call) model.Call {
		c.Out, c.Return = nil, history.Never
		return c
	}
	for name, c := range map[string]struct {
		calls []model.Call
		want  model.Judgement
	}{
		"one after the other":           {[]model.Call{take(1, 2, 5), write(3, 4, 5), release(5, 6, 5), take(7, 8, 9), write(9, 10, 9)}, model.Explained},
		"side by side":                  {[]model.Call{take(1, 9, 9), take(2, 8, 5), write(3, 7, 5), release(4, 6, 5)}, model.Explained},
		"begun by nobody that is known": {[]model.Call{unknown(take(1, 2, 0)), write(3, 4, 5)}, model.Explained},
		"nothing of an epoch":           {[]model.Call{take(1, 2, 5), call(3, 4, model.ClaimCall{Name: "load"}), write(5, 6, 5)}, model.Explained},
		"under an old epoch":            {[]model.Call{take(1, 2, 5), take(3, 4, 9), write(5, 6, 5)}, model.Contradicted},
		"before it began":               {[]model.Call{write(1, 2, 5), take(3, 4, 5)}, model.Contradicted},
		"after it was released":         {[]model.Call{take(1, 2, 5), release(3, 4, 5), write(5, 6, 5)}, model.Contradicted},
		"given twice":                   {[]model.Call{take(1, 9, 5), take(2, 8, 5)}, model.Contradicted},
	} {
		if got := model.Claims().Judge(c.calls, time.Minute); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
