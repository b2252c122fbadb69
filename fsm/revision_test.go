package fsm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/kv"
)

// sized returns a state of n bytes.
func sized(n int) string { return `{"x":"` + strings.Repeat("0", n-len(`{"x":""}`)) + `"}` }

func TestAShortBodyCarriesItsRevisionsRow(t *testing.T) {
	r := newSubject(t)
	for i, c := range []struct{ bytes, rows int }{{checkpoint.CarriedBytesMax - 2, 0}, {checkpoint.CarriedBytesMax - 1, 1}} { // metadata is {}
		key := fmt.Sprint(i)
		do[*agent.CheckpointResult](r, state(key, sized(c.bytes)))
		do[*agent.CheckpointResult](r, state(key, `{}`))
		if got := r.rows(kv.KindCheckpointHistory); got != c.rows {
			t.Errorf("%d rows of history of a body of %d bytes, want %d", got, c.bytes, c.rows)
		}
		got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: key, Revision: 1})
		if len(got.State) != c.bytes || got.Revision != 1 || got.CreatedAt == 0 {
			t.Errorf("revision 1 of %d bytes: %+v", c.bytes, got)
		}
	}
}

// For any sizes of revisions and any changes of the policy, the list shows what was put, each
// revision can be read, and nothing is left when the checkpoint is deleted.
func TestHistoryOfAllSizesUnderChangingPolicies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newSubject(t)
		sizes, pointed := []int{}, []bool{}
		keep, kept, aged := agent.HistoryDefault, 0, false
		do[*agent.ThreadResult](r, appendTo("t", `{}`))
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			if rapid.IntRange(0, 4).Draw(rt, "policy") == 0 {
				keep = rapid.IntRange(1, 6).Draw(rt, "keep")
				p := agent.Policy{History: uint64(keep)}
				if rapid.Bool().Draw(rt, "age") {
					p.HistoryAgeMS = uint64(time.Minute.Milliseconds())
					aged = true
				}
				do[*agent.ScopeResult](r, &agent.PutScope{Policy: p})
			}
			if aged && rapid.IntRange(0, 6).Draw(rt, "wait") == 0 {
				r.after(2 * time.Minute).batch()
			}
			size := rapid.SampledFrom([]int{10, checkpoint.CarriedBytesMax - 2, checkpoint.CarriedBytesMax - 1, 3 * checkpoint.CarriedBytesMax}).Draw(rt, "size")
			put := &agent.PutCheckpoint{Key: "c", State: agent.JSON(sized(size))}
			if rapid.Bool().Draw(rt, "pointed") {
				put.Thread = &agent.Pointer{Thread: "t", Rev: 1}
			}
			do[*agent.CheckpointResult](r, put)
			sizes, pointed = append(sizes, size), append(pointed, put.Thread != nil)
			items := read[*agent.CheckpointList](r, &agent.CheckpointHistory{Key: "c"}).Items
			kept = min(kept+1, keep) // unless some expired by age
			if len(items) > kept || !aged && len(items) != kept {
				rt.Fatalf("%d revisions are kept, want %d", len(items), kept)
			}
			for i, item := range items {
				revision := len(sizes) - i
				got := read[*agent.Checkpoint](r, &agent.GetCheckpoint{Key: "c", Revision: uint64(revision)})
				if item.Revision != uint64(revision) || item.Bytes != uint64(sizes[revision-1]) || len(got.State) != sizes[revision-1] ||
					(item.Thread != nil) != pointed[revision-1] || item.UpdatedAt != got.UpdatedAt {
					rt.Fatalf("revision %d: listed %+v, read %+v, put %d bytes", revision, item, got, sizes[revision-1])
				}
			}
			if got := r.rows(kv.KindCheckpointBody); got != len(items) {
				rt.Fatalf("%d bodies of %d revisions", got, len(items))
			}
		}
		do[*agent.DeleteResult](r, &agent.DeleteCheckpoint{Key: "c"})
		if bodies, history := r.rows(kv.KindCheckpointBody), r.rows(kv.KindCheckpointHistory); bodies+history != 0 {
			rt.Fatalf("%d bodies and %d rows of history are left", bodies, history)
		}
		if s := read[*agent.Scope](r, &agent.GetScope{}); s.Keys != 1 {
			rt.Fatalf("the scope counts %+v", s)
		}
	})
}
