package model_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/jepsen/model"
)

// plain is Registers with a search that delays nothing: an unknown call takes effect
// at its turn if it can.
func plain() model.Linear {
	l := model.Registers()
	l.Init, l.Any = model.Register{}, model.Register{Any: true}
	l.Search = func([]model.Call) func(state, in, out any) (any, bool) {
		return func(state, in, out any) (any, bool) {
			call, answer := in.(*model.RegisterCall), (*model.RegisterOut)(nil)
			if out != nil {
				answer = out.(*model.RegisterOut)
			}
			return state.(model.Register).Apply(call.Name, call.RegisterIn, answer)
		}
	}
	return l
}

// anyCalls returns calls with answers that may or may not be consistent.
func anyCalls(t *rapid.T) []model.Call {
	small := func(name string, most int) uint64 { return uint64(rapid.IntRange(0, most).Draw(t, name)) }
	calls := make([]model.Call, rapid.IntRange(1, 8).Draw(t, "calls"))
	for i := range calls {
		c := &calls[i]
		c.Tag, c.Process = i, i
		c.Invoke = time.Duration(small("invoke", 20))
		c.Return = c.Invoke + time.Duration(small("took", 10))
		in := &model.RegisterCall{Name: rapid.SampledFrom([]string{"get", "put", "put", "patch", "delete"}).Draw(t, "call")}
		c.In = in
		switch in.Name {
		case "put":
			in.Content.A = small("content", 2)
		case "patch":
			in.Content.B = small("content", 1)
		}
		if in.Name != "get" {
			switch small("condition", 5) {
			case 0:
				revision := small("revision", 3)
				in.IfRevision = &revision
			case 1:
				in.IfContent = &model.Content{A: small("content", 2)}
			case 2:
				in.IfIncarnation = small("incarnation", 2)
			}
			if small("unknown", 1) == 0 {
				c.Return = math.MaxInt64
				continue
			}
		}
		c.Out = anyAnswer(in, small)
	}
	return calls
}

func anyAnswer(in *model.RegisterCall, small func(string, int) uint64) *model.RegisterOut {
	out := &model.RegisterOut{Incarnation: 1 + small("incarnation", 1), Revision: 1 + small("revision", 3)}
	switch {
	case in.Name == "get" && small("refused", 2) == 0:
		return &model.RegisterOut{Refused: model.RefusedNotFound}
	case in.Name == "get":
		out.Content = model.Content{A: small("content", 2), B: small("content", 1)}
	case in.IfRevision != nil && small("refused", 2) == 0:
		return &model.RegisterOut{Refused: model.RefusedRevision, Revision: small("revision", 3)}
	case in.IfIncarnation != 0 && small("refused", 2) == 0:
		return &model.RegisterOut{Refused: model.RefusedDeleted, Incarnation: out.Incarnation}
	case in.Name == "delete":
		out.Revision, out.Existed = 0, small("existed", 3) > 0
		if !out.Existed {
			out.Incarnation = 0
		}
		if small("untold", 2) == 0 {
			return &model.RegisterOut{Untold: true}
		}
	}
	return out
}

// TestThePrunedSearchFindsWhatThePlainOneDoes checks that delaying unknown calls
// changes no verdict, with and without a known initial state.
func TestThePrunedSearchFindsWhatThePlainOneDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		calls := anyCalls(r)
		want, got := plain().Judge(calls, time.Minute), model.Registers().Judge(calls, time.Minute)
		if want != got {
			r.Fatalf("plain: %d, pruned: %d", want, got)
		}
	})
}

// TestTheShortestPartIsAPart checks that the part is contradicted, also by the plain
// search, and holds only calls of the whole.
func TestTheShortestPartIsAPart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		calls := anyCalls(r)
		if model.Registers().Judge(calls, time.Minute) != model.Contradicted {
			return
		}
		part, whole := model.Registers().Shortest(calls, time.Minute)
		l := plain()
		if !whole {
			l.Init = l.Any
		}
		if len(part) == 0 || len(part) > len(calls) || l.Judge(part, time.Minute) != model.Contradicted {
			r.Fatalf("%d of %d calls show nothing (whole: %v)", len(part), len(calls), whole)
		}
		seen := map[int]bool{}
		for _, c := range part {
			if seen[c.Tag] || calls[c.Tag].In != c.In || c.Out != nil && c.Out != calls[c.Tag].Out {
				r.Fatalf("call %d is there twice, or is another", c.Tag)
			}
			seen[c.Tag] = true
		}
	})
}

func TestThereIsNoVerdictWithoutTime(t *testing.T) {
	if got := model.Registers().Judge(nil, 0); got != model.OutOfTime {
		t.Errorf("judged %d", got)
	}
}
