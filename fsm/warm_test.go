package fsm_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"dormouse/agent"
)

// For any entries applied meanwhile, a view reads the same rows from the cache as from the engine.
func TestAViewReadsTheSameFromMemoryAsFromTheEngine(t *testing.T) {
	r := newSubject(t)
	const keys, entries, readers = 8, 3000, 4
	done := make(chan struct{})
	var reading sync.WaitGroup
	hits := make([]int, readers)
	for n := range readers {
		reading.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for {
				select {
				case <-done:
					return
				default:
				}
				view := r.machine.View()
				for range 4 {
					key := fmt.Sprintf("k%d", random.IntN(keys))
					same, hit := view.ReadsAlike("default", key)
					if !same {
						t.Errorf("%s as of entry %d is another in memory", key, view.Index())
					}
					hits[n] += hit
				}
				view.Close()
			}
		})
	}
	random := rand.New(rand.NewPCG(7, 7))
	for n := range entries {
		key := fmt.Sprintf("k%d", random.IntN(keys))
		op := agent.Op(&agent.PutValue{Key: key, Bytes: fmt.Append(nil, n)})
		switch random.IntN(10) {
		case 0:
			op = &agent.DeleteValue{Key: key}
		case 1:
			op = &agent.PutCheckpoint{Key: "other", State: agent.JSON(`{}`)}
		}
		if decided := r.batch(agent.Commit{Ops: []agent.Op{op}})[0]; decided.Err != nil {
			t.Fatal(decided.Err)
		}
	}
	close(done)
	reading.Wait()
	total := 0
	for _, n := range hits {
		total += n
	}
	if total == 0 {
		t.Error("nothing was ever read from memory")
	}
}

// A deleted scope is removed by ranges, from the cache too.
func TestWhatIsDeletedByTheRangeIsNotReadFromMemory(t *testing.T) {
	r := newSubject(t)
	r.batch(agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}})
	read := func() agent.Answer {
		view := r.machine.View()
		defer view.Close()
		return view.Answer("s", &agent.GetValue{Key: "k"})
	}
	for range 2 {
		if a := read(); a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	r.batch(agent.Commit{Scope: "s", Ops: []agent.Op{&agent.DeleteScope{}}})
	if a := read(); a.Err == nil || a.Err.Code != agent.CodeNotFound {
		t.Errorf("after its scope went the value reads as %+v", a)
	}
}
