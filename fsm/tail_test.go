package fsm_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dormouse/agent"
	"dormouse/fsm"
)

// Whatever is appended, compacted, forked, deleted and made again, a thaw gets the same entries from
// memory as from the engine, and a view that was made before gets those of its entry.
func TestAThawReadsTheSameFromMemoryAsFromTheEngine(t *testing.T) {
	r := newSubject(t)
	random := rand.New(rand.NewPCG(1, 1))
	const threads, steps = 4, 3000
	name := func() string { return fmt.Sprintf("t%d", random.IntN(threads)) }
	alike := func(view *fsm.View, thread string) {
		thaw := agent.Thaw{Key: thread}
		if random.IntN(3) > 0 {
			thaw.Tail = ptr(uint64(random.IntN(12)))
		}
		encoded := thaw
		encoded.Encoded = true
		r.sameThaw(view.Answer("", &thaw), view.Answer("", &encoded))
	}
	hits := 0
	for n := range steps {
		func() {
			before, thread := r.machine.View(), name()
			defer before.Close()
			changeThread(r, random, n, name, thread)
			now := r.machine.View()
			defer now.Close()
			for range 3 {
				alike(before, name())
				alike(now, name())
			}
			if now.HasTail("default", thread) {
				hits++
			}
		}()
	}
	if hits < steps/2 {
		t.Errorf("the tail was in memory in %d of %d steps", hits, steps)
	}
}

// changeThread applies the nth change of a thread or its scope; most changes append an entry.
func changeThread(r *subject, random *rand.Rand, n int, name func() string, thread string) {
	switch random.IntN(40) {
	case 0:
		_, _ = r.try(&agent.DeleteThread{Thread: thread}, &agent.DeleteCheckpoint{Key: thread})
	case 1:
		_, _ = r.try(&agent.CompactThread{Thread: thread, BeforeSeq: 1 + uint64(random.IntN(60))})
	case 2:
		if from := name(); from != thread {
			_, _ = r.try(&agent.DeleteThread{Thread: thread}, &agent.DeleteCheckpoint{Key: thread})
			_, _ = r.try(&agent.ForkAgent{Agent: from, NewAgent: thread})
		}
	case 3:
		_, _ = r.try(&agent.DeleteScope{})
	default:
		rev := do[*agent.ThreadResult](r, appendTo(thread, fmt.Sprintf(`{"n":%d}`, n))).Thread.Rev
		do[*agent.CheckpointResult](r, pointing(thread, thread, rev-uint64(random.IntN(2))))
	}
}

// Threads of two clusters can have the same incarnations. After an import a thaw reads what was
// imported, and not what was in memory before the scope was deleted, also if one entry does both.
func TestAThawAfterAnImportReadsWhatWasImported(t *testing.T) {
	filled := func(t *testing.T, payload string) *subject {
		t.Helper()
		r := newSubject(t)
		r.record()
		do[*agent.CheckpointResult](r, appendTo("t", payload), pointing("c", "t", 1))
		return r
	}
	for name, replace := range map[string]func(target *subject, e exportedScope){
		"in many entries": func(target *subject, e exportedScope) {
			do[*agent.DeleteResult](target, &agent.DeleteScope{})
			importInto(target, "default", e, 10)
		},
		"in one entry": func(target *subject, e exportedScope) {
			ops := []agent.Op{&agent.DeleteScope{}, e.begin("i")}
			for i, chunk := range e.chunks(10) {
				ops = append(ops, &agent.ImportScope{ID: "i", Chunk: uint64(i), Rows: chunk})
			}
			var commits []agent.Commit
			for _, op := range append(ops, &agent.ImportScope{ID: "i", Finish: true}) {
				commits = append(commits, agent.Commit{Ops: []agent.Op{op}})
			}
			for i, d := range target.batch(commits...) {
				if d.Err != nil {
					t.Fatalf("commit %d: %v", i, d.Err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			source, target := filled(t, `{"from":"source"}`), filled(t, `{"from":"target"}`)
			incarnation := func(r *subject) uint64 { return read[*agent.Thread](r, &agent.GetThread{Thread: "t"}).Incarnation }
			if incarnation(source) != incarnation(target) {
				t.Fatal("the threads have different incarnations")
			}
			thaw := &agent.Thaw{Key: "c"}
			for range 2 {
				if got := payloads(read[*agent.Thawed](target, thaw).Entries); got != `{"from":"target"}` {
					t.Fatal(got)
				}
			}
			replace(target, exportOf(source, "default"))
			if got := payloads(read[*agent.Thawed](target, thaw).Entries); got != `{"from":"source"}` {
				t.Errorf("after the import the thread has %s", got)
			}
		})
	}
}
