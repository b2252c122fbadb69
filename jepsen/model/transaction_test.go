package model_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dormouse/jepsen/model"
)

// call builds a transaction from its times and a short form of its accesses.
func call(invoke, ret int, accesses ...string) model.Transaction {
	t := model.Transaction{Span: model.Span{Invoke: time.Duration(invoke), Return: time.Duration(ret)}}
	for _, a := range accesses {
		var how byte
		var object string
		var version uint64
		if _, err := fmt.Sscanf(a, "%c %s %d", &how, &object, &version); err != nil {
			panic(err)
		}
		access := model.Access{Object: object, Version: version}
		switch how {
		case 'w':
			t.Writes = append(t.Writes, access)
		case 'r':
			t.Reads = append(t.Reads, access)
		default:
			t.Saw = append(t.Saw, access)
		}
	}
	return t
}

func early(t model.Transaction) model.Transaction {
	t.Early = true
	return t
}

// TestContradictions checks that each forbidden anomaly is a cycle, and that allowed
// oddities are not.
func TestContradictions(t *testing.T) {
	const never = int(1<<63 - 1)
	cases := []struct {
		name   string
		calls  []model.Transaction
		length int // length of the cycle; 0 for none
	}{
		{"one after the other", []model.Transaction{call(0, 1, "w x 1"), call(2, 3, "r x 1"), call(4, 5, "w x 2")}, 0},
		{"a read may see a write that is under way", []model.Transaction{call(0, 9, "w x 1"), call(2, 3, "r x 1")}, 0},
		{"or not", []model.Transaction{call(0, 9, "w x 1"), call(2, 3, "r x 0")}, 0},
		{"a write of unknown outcome may apply late", []model.Transaction{call(0, never, "w x 1"), call(2, 3, "r x 0"), call(4, 5, "r x 1")}, 0},
		{"a watch may lag", []model.Transaction{call(0, 1, "w x 1"), call(2, 3, "w x 2"), call(4, 5, "s x 1")}, 0},
		{"a watch of the future", []model.Transaction{call(0, 1, "s x 1"), call(2, 3, "w x 1")}, 2},
		{"watched and lost", []model.Transaction{call(0, never, "w x 1"), call(2, 3, "s x 1"), call(4, 5, "r x 0")}, 3},
		{"a stale read that says so", []model.Transaction{call(1, 2, "w x 1"), early(call(3, 4, "r x 0"))}, 0},
		{"half a commit, read so", []model.Transaction{call(1, 2, "w x 1", "w y 1"), early(call(3, 4, "r x 1", "r y 0"))}, 2},
		{"the future, read so", []model.Transaction{early(call(1, 2, "r x 1")), call(3, 4, "w x 1")}, 2},
		{"stale read", []model.Transaction{call(0, 1, "w x 1"), call(2, 3, "r x 0")}, 2},
		{"the value comes and goes", []model.Transaction{call(0, 9, "w x 1"), call(2, 3, "r x 1"), call(4, 5, "r x 0")}, 3},
		{"writes out of order", []model.Transaction{call(0, 1, "w x 2"), call(2, 3, "w x 1")}, 2},
		{"read from the future", []model.Transaction{call(0, 1, "r x 1"), call(2, 3, "w x 1")}, 2},
		{"half a commit", []model.Transaction{call(0, 9, "w x 1", "w y 1"), call(0, 9, "r x 1", "r y 0")}, 2},
		{"two readers disagree (long fork)", []model.Transaction{
			call(0, 9, "w x 1"), call(0, 9, "w y 1"), call(0, 9, "r x 1", "r y 0"), call(0, 9, "r x 0", "r y 1"),
		}, 4},
		{"write skew", []model.Transaction{call(0, 9, "r x 0", "w y 1"), call(0, 9, "r y 0", "w x 1")}, 2},
		{"an overwrite in between is skipped", []model.Transaction{call(0, 1, "w x 1"), call(0, 1, "w x 3"), call(2, 3, "r x 2")}, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cycle := model.Contradiction(c.calls)
			if len(cycle) != c.length {
				t.Errorf("the cycle is %v", cycle)
			}
			for i, e := range cycle {
				if e.To != cycle[(i+1)%len(cycle)].From {
					t.Errorf("the cycle does not close: %v", cycle)
				}
			}
		})
	}
}

// execution returns a random run of a correct store. Each call takes effect at one
// instant between its invocation and its return.
func execution(r *rand.Rand, processes, calls int) (all []model.Transaction) {
	objects := []string{"t1", "t2", "c1", "c2"}
	type open struct {
		made bool
		t    model.Transaction
	}
	versions, under := map[string]uint64{}, make([]*open, processes)
	now := time.Duration(0)
	for len(all) < calls {
		now++
		at := r.IntN(processes)
		switch o := under[at]; {
		case o == nil:
			under[at] = &open{t: model.Transaction{Span: model.Span{Invoke: now}}}
		case !o.made:
			o.made = true
			write := r.IntN(2) == 0
			for _, object := range objects {
				switch {
				case r.IntN(2) == 0:
				case write:
					versions[object] += 1 + r.Uint64N(2)
					o.t.Writes = append(o.t.Writes, model.Access{Object: object, Version: versions[object]})
				default:
					o.t.Reads = append(o.t.Reads, model.Access{Object: object, Version: versions[object]})
				}
			}
		default:
			o.t.Return = now
			if r.IntN(20) == 0 && len(o.t.Writes) > 0 {
				o.t.Return = 1<<63 - 1
			}
			all = append(all, o.t)
			under[at] = nil
		}
	}
	return all
}

// TestSoundExecutionsHaveNoCycle also checks that a falsified read gives a cycle. Its
// version was overwritten before the read began, or created after it ended.
func TestSoundExecutionsHaveNoCycle(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := execution(r, 1+r.IntN(8), 200)
		if cycle := model.Contradiction(all); cycle != nil {
			t.Fatalf("seed %d: %v", seed, cycle)
		}
		reader, wrong := falsify(r, all)
		if reader < 0 {
			continue
		}
		old := all[reader].Reads[0]
		all[reader].Reads[0].Version = wrong
		if model.Contradiction(all) == nil {
			t.Fatalf("seed %d: nobody noticed that call %d saw version %d of %s instead of %d", seed, reader, wrong, old.Object, old.Version)
		}
	}
}

// falsify returns a read and a version that it cannot have seen.
func falsify(r *rand.Rand, all []model.Transaction) (reader int, version uint64) {
	for range 100 {
		reader := r.IntN(len(all))
		if len(all[reader].Reads) == 0 {
			continue
		}
		saw, span := all[reader].Reads[0], all[reader].Span
		for _, w := range all {
			for _, a := range w.Writes {
				switch {
				case a.Object != saw.Object:
				case a.Version <= saw.Version && w.Return < span.Invoke:
					return reader, a.Version - 1
				case a.Version > saw.Version && w.Invoke > span.Return:
					return reader, a.Version
				}
			}
		}
	}
	return -1, 0
}

// BenchmarkContradiction judges the history of an hour, which must take seconds.
func BenchmarkContradiction(b *testing.B) {
	const groups, calls = 20, 2000
	r := rand.New(rand.NewPCG(7, 7))
	var executions [][]model.Transaction
	for range groups {
		executions = append(executions, execution(r, 10, calls))
	}
	for b.Loop() {
		for _, e := range executions {
			if cycle := model.Contradiction(e); cycle != nil {
				b.Fatal(cycle)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*groups*calls), "ns/call")
}
