package cells

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const key = "cell1"

func writes(p, from, to int, cells ...string) history.Op {
	return workloadtest.OK(p, from, to, callWrite, key, call{Write: [count]string(cells)}, answer{})
}

func creates(p, from, to int, value string, kept bool) history.Op {
	return workloadtest.OK(p, from, to, callCreate, key, call{Write: [count]string{value}, Fresh: true}, answer{Kept: kept})
}

func swaps(p, from, to int, old, value string, kept bool) history.Op {
	return workloadtest.OK(p, from, to, callSwap, key, call{Write: [count]string{value}, Old: old}, answer{Kept: kept})
}

func reads(p, from, to int, cells ...string) history.Op {
	return workloadtest.OK(p, from, to, workload.CallRead, key, struct{}{}, answer{Cells: [count]string(cells)})
}

func TestCellHistories(t *testing.T) {
	ab := writes(1, 0, 1, "a", "b", "")
	for _, c := range []struct {
		name  string
		calls workloadtest.Script
		rule  string
	}{
		{"written and read", workloadtest.Script{ab, reads(2, 2, 3, "a", "b", none)}, ""},
		{"before or after", workloadtest.Script{writes(1, 0, 9, "a", "b", ""), reads(2, 2, 3, none, none, none), reads(2, 4, 5, "a", "b", none)}, ""},
		{"half of it", workloadtest.Script{writes(1, 0, 9, "a", "b", ""), reads(2, 2, 3, "a", none, none)}, "no order explains it"},
		{"stale", workloadtest.Script{ab, reads(2, 2, 3, none, none, none)}, "no order explains it"},
		{"back again", workloadtest.Script{writes(1, 0, 9, "a", "", ""), reads(2, 2, 3, "a", none, none), reads(2, 4, 5, none, none, none)}, "no order explains it"},
		{"deleted", workloadtest.Script{ab, writes(1, 2, 3, none, "", "c"), reads(2, 4, 5, none, "b", "c")}, ""},
		{"a delete that did nothing", workloadtest.Script{ab, writes(1, 2, 3, none, "", ""), reads(2, 4, 5, "a", "b", none)}, "no order explains it"},
		{"created", workloadtest.Script{creates(1, 0, 1, "a", false), creates(1, 2, 3, "c", true), reads(2, 4, 5, "a", none, none)}, ""},
		{"created over another", workloadtest.Script{creates(1, 0, 1, "a", false), creates(1, 2, 3, "c", false)}, "no order explains it"},
		{"kept without any", workloadtest.Script{creates(1, 0, 1, "a", true)}, "no order explains it"},
		{"swapped", workloadtest.Script{ab, swaps(1, 2, 3, "a", "c", false), swaps(1, 4, 5, "a", "d", true), reads(2, 6, 7, "c", "b", none)}, ""},
		{"swapped twice", workloadtest.Script{ab, swaps(1, 2, 3, "a", "c", false), swaps(2, 2, 3, "a", "d", false)}, "no order explains it"},
		{"kept but there", workloadtest.Script{ab, swaps(1, 2, 3, "a", "c", true), reads(2, 4, 5, "c", "b", none)}, "kept but there"},
		{"refused but there", workloadtest.Script{workloadtest.Refused(ab, "conflict"), reads(2, 2, 3, "a", "b", none)}, "refused but there"},
		{"from nowhere", workloadtest.Script{reads(2, 2, 3, "a", none, none)}, "value from nowhere"},
		{"of another cell", workloadtest.Script{ab, reads(2, 2, 3, "b", "a", none)}, "value from nowhere"},
		{"from the future", workloadtest.Script{reads(2, 0, 1, "a", "b", none), writes(1, 2, 3, "a", "b", "")}, "read from the future"},
		{"unknown and there", workloadtest.Script{workloadtest.Unknown(ab), reads(2, 2, 3, none, none, none), reads(2, 4, 5, "a", "b", none)}, ""},
		{"unknown and not there", workloadtest.Script{workloadtest.Unknown(ab), reads(2, 2, 3, none, none, none)}, ""},
		{"unknown, seen only by a create", workloadtest.Script{workloadtest.Unknown(writes(1, 0, 1, "a", "", "")), creates(2, 2, 3, "c", true)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
}

func TestCellsCheckGivesUp(t *testing.T) {
	workloadtest.GivesUp(t, New(), workloadtest.Script{writes(1, 0, 1, "a", "b", ""), reads(1, 2, 3, "a", "b", none)}.History())
}

// madeUp makes up a sound history of n calls.
func madeUp(d workloadtest.Draw, n int) (calls workloadtest.Script) {
	state := [count]string{none, none, none}
	for i, m := range workloadtest.Execution(d, n, 12) {
		at := d(0, count-1)
		in, name := call{}, callWrite
		switch d(0, 4) {
		case 0, 1:
			calls = append(calls, m.Op(workload.CallRead, key, struct{}{}, answer{Cells: state}))
			continue
		case 2:
			name, in.Fresh = callCreate, true
		case 3:
			if name, in.Old = callSwap, state[d(0, count-1)]; in.Old == none {
				name, in.Old = callWrite, ""
			}
		}
		in.Write[at] = fmt.Sprint("w", i)
		next, _ := (&step{name, in}).apply(state, nil)
		out := answer{Kept: next == state}
		if !m.Lost {
			state = next.([count]string)
		}
		calls = append(calls, m.Op(name, key, in, out))
	}
	return calls
}

func TestSoundCellHistoriesAreOrdered(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		calls := madeUp(workloadtest.Drawn(rt), 60)
		workloadtest.Expect(t, workloadtest.Judged(t, New(), calls.History()), "")
	})
}
