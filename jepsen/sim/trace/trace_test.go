package trace_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/jepsen/sim/trace"
)

func TestTheSumDependsOnAllThatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := uint64(1)
		sum := func(happens func(*trace.Trace)) uint64 {
			var lines bytes.Buffer
			one := trace.New(&lines, func() uint64 { return state })
			happens(one)
			sum, notes := one.Sum()
			if notes != uint64(bytes.Count(lines.Bytes(), []byte("\n"))) || one.Count("write") != int64(notes) {
				t.Errorf("%d notes: %s", notes, &lines)
			}
			return sum
		}
		usual := func(one *trace.Trace) { one.Note("write", "a", 1, 2) }
		want := sum(usual)
		if sum(usual) != want {
			t.Error("the same gave another sum")
		}
		seen := map[uint64]bool{want: true}
		for i, other := range []func(*trace.Trace){
			func(one *trace.Trace) { one.Note("write", "b", 1, 2) },
			func(one *trace.Trace) { one.Note("write", "a", 2, 1) },
			func(one *trace.Trace) { one.Note("write", "a", 1, 2); one.Note("write", "a", 1, 2) },
			func(one *trace.Trace) { time.Sleep(time.Nanosecond); one.Note("write", "a", 1, 2) },
			func(one *trace.Trace) { state = 2; one.Note("write", "a", 1, 2) },
			func(*trace.Trace) {},
		} {
			if s := sum(other); seen[s] {
				t.Errorf("case %d gave a sum that was there", i)
			} else {
				seen[s] = true
			}
		}
		if trace.Bytes([]byte("ab")) == trace.Bytes([]byte("ba")) || trace.Bytes(nil) == trace.Bytes([]byte{0}) {
			t.Error("different bytes have one number")
		}
	})
}
