package model_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/jepsen/model"
)

func placed(tag, invoke, ret int, before, after uint64) model.Placed {
	return model.Placed{
		Span:   model.Span{Invoke: time.Duration(invoke), Return: time.Duration(ret)},
		Before: model.Position{Version: before}, After: model.Position{Version: after}, Tag: tag,
	}
}

func TestWhatGoesBackIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		calls []model.Placed
		found int
	}{
		"none":                           {nil, 0},
		"in turn":                        {[]model.Placed{placed(0, 0, 1, 0, 1), placed(1, 2, 3, 1, 1), placed(2, 4, 5, 1, 2)}, 0},
		"at the same time":               {[]model.Placed{placed(0, 0, 5, 0, 3), placed(1, 2, 6, 0, 0)}, 0},
		"touching":                       {[]model.Placed{placed(0, 0, 5, 0, 3), placed(1, 5, 6, 0, 0)}, 0},
		"a read of what was":             {[]model.Placed{placed(0, 0, 1, 0, 3), placed(1, 2, 3, 2, 2)}, 1},
		"two such":                       {[]model.Placed{placed(0, 0, 1, 0, 3), placed(1, 2, 3, 2, 2), placed(2, 2, 3, 0, 1)}, 2},
		"a later incarnation":            {[]model.Placed{placed(0, 0, 1, 0, 3), {Span: model.Span{Invoke: 2, Return: 3}, Before: model.Position{Incarnation: 1}, After: model.Position{Incarnation: 1, Version: 1}}}, 0},
		"one that never returned is not": {[]model.Placed{placed(0, 0, int(^uint(0)>>1), 0, 3), placed(1, 2, 3, 2, 2)}, 0},
	} {
		if found := model.GoneBack(c.calls); len(found) != c.found {
			t.Errorf("%s: found %+v, want %d", name, found, c.found)
		}
	}
}

// TestGoingBackIsFoundAsByLookingAtAllPairs compares GoneBack with a comparison of all
// pairs.
func TestGoingBackIsFoundAsByLookingAtAllPairs(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := func(most int) int { return rapid.IntRange(0, most).Draw(r, "n") }
		calls := make([]model.Placed, n(12))
		for i := range calls {
			invoke, before := n(20), n(5)
			calls[i] = placed(i, invoke, invoke+n(10), uint64(before), uint64(before+n(2)))
		}
		want := map[int]bool{}
		for _, later := range calls {
			for _, earlier := range calls {
				if earlier.Return < later.Invoke && later.Before.Less(earlier.After) {
					want[later.Tag] = true
				}
			}
		}
		found := model.GoneBack(calls)
		for _, b := range found {
			if !want[b.Later.Tag] || b.Earlier.Return >= b.Later.Invoke || !b.Later.Before.Less(b.Earlier.After) {
				r.Fatalf("found %+v", b)
			}
		}
		if len(found) != len(want) {
			r.Fatalf("found %d of %d", len(found), len(want))
		}
	})
}
