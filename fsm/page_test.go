package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
)

// A page that selects by time reads a bounded number of rows, and names its continuation even if it
// has found none.
func TestAPageByTimeReadsABoundedNumberOfRows(t *testing.T) {
	r := newSubject(t)
	const count = agent.ReadRowsMax + 2
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("%06d", i)
	}
	for chunk := range slices.Chunk(keys, agent.CommitOpsMax) {
		var ops []agent.Op
		for _, key := range chunk {
			ops = append(ops, &agent.PutValue{Key: key})
		}
		do[*agent.ValueResult](r, ops...)
	}
	r.after(time.Second)
	do[*agent.ValueResult](r, &agent.PutValue{Key: "z"})
	late := agent.Times{Since: r.wall}
	for order, want := range map[agent.Order][]string{agent.Ascending: {"", "z"}, agent.Descending: {"z", ""}} {
		var got []string
		q := &agent.ListValues{Page: agent.Page{Times: late, Order: order}}
		for {
			page := read[*agent.ValueList](r, q)
			var found []string
			for _, row := range page.Items {
				found = append(found, row.Key)
			}
			got = append(got, strings.Join(found, " "))
			if q.After = page.Next; page.Next == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the pages are %q, want %q", order, got, want)
		}
	}
}

func TestALoadByTimeReadsABoundedNumberOfEntries(t *testing.T) {
	r := newSubject(t)
	kinds := slices.Repeat([]string{"other"}, agent.ReadRowsMax+1)
	ofKinds(r, "t", kinds...)
	r.after(time.Second)
	ofKinds(r, "t", "late")
	q := &agent.LoadEntries{Thread: "t", Times: agent.Times{Since: r.wall}}
	page := read[*agent.Entries](r, q)
	if len(page.Items) != 0 || page.Next == nil || *page.Next != agent.ReadRowsMax {
		t.Fatalf("the first page has %d entries, next %v", len(page.Items), page.Next)
	}
	q.Continue(page)
	if page = read[*agent.Entries](r, q); len(page.Items) != 1 || page.Next != nil {
		t.Fatalf("the second page has %d entries, next %v", len(page.Items), page.Next)
	}
	q = &agent.LoadEntries{Thread: "t", Times: agent.Times{Since: r.wall}, Order: agent.Descending, Kinds: []string{"other", "late"}}
	if page = read[*agent.Entries](r, q); len(page.Items) != 1 || page.Next == nil || *page.Next != 1 {
		t.Fatalf("backwards the first page has %d entries, next %v", len(page.Items), page.Next)
	}
}

// A page with bodies holds at most agent.ReadBytesMax of them, or one.
func TestAPageOfBodiesIsBounded(t *testing.T) {
	r := newSubject(t)
	body := make([]byte, agent.ValueBytesMax)
	state := agent.JSON(`{"x":"` + strings.Repeat("x", agent.CheckpointBytesMax-100) + `"}`)
	for i := range 5 {
		key := fmt.Sprint(i)
		do[*agent.ValueResult](r, &agent.PutValue{Key: key, Bytes: body})
		do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: key, State: state})
	}
	values := &agent.ListValues{Body: true}
	checkpoints := &agent.ListCheckpoints{Body: true}
	for i, want := range []int{3, 2} {
		page := read[*agent.ValueList](r, values)
		if size := len(page.Items) * len(body); len(page.Items) != want || size > agent.ReadBytesMax {
			t.Errorf("a page has %d values of %d bytes, want %d", len(page.Items), size, want)
		}
		values.After = page.Next
		states := read[*agent.CheckpointList](r, checkpoints)
		if size := len(states.Items) * len(state); size > agent.ReadBytesMax || len(states.Items) != []int{4, 1}[i] {
			t.Errorf("page %d has %d checkpoints of %d bytes", i, len(states.Items), size)
		}
		checkpoints.After = states.Next
	}
	if page := read[*agent.ValueList](r, &agent.ListValues{}); len(page.Items) != 5 {
		t.Errorf("without bodies a page has %d values", len(page.Items))
	}
}

func TestKindsAreReadBackwardsOverBlocksAndForks(t *testing.T) {
	r := newSubject(t)
	const block = kv.KindBlock
	kinds := slices.Repeat([]string{"other"}, 2*block+10)
	marks := []uint64{0, block - 1, block, 2*block - 1, 2 * block, 2*block + 9}
	for _, seq := range marks {
		kinds[seq] = "mark"
	}
	ofKinds(r, "t", kinds...)
	do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "f", AtRev: ptr(uint64(block + 5))})
	ofKinds(r, "f", "x", "mark")
	for thread, want := range map[string][]uint64{"t": marks, "f": {0, block - 1, block, block + 6}} {
		want = slices.Clone(want)
		slices.Reverse(want)
		for _, limit := range []uint64{0, 1, 2} {
			q := agent.LoadEntries{Thread: thread, Kinds: []string{"mark"}, Order: agent.Descending, Limit: limit}
			var got []uint64
			for more := true; more; {
				page := read[*agent.Entries](r, &q)
				got = append(got, seqs(page.Items)...)
				more = q.Continue(page)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d a page: %d, want %d", thread, limit, got, want)
			}
		}
	}
}

// A page of changes with bodies ends before a body that does not fit.
func TestAPageOfChangesWithBodiesIsBounded(t *testing.T) {
	r := recording(t)
	from, skip := r.index+1, uint64(0)
	for i := range 3 {
		do[*agent.ValueResult](r, &agent.PutValue{Key: fmt.Sprint(i), Bytes: make([]byte, 3<<20)})
	}
	do[*agent.ValueResult](r, &agent.PutValue{Key: "0", Bytes: make([]byte, 3<<20)})
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "1"})
	var got []string
	for from <= r.index {
		view := r.machine.View()
		page, err := view.ChangesPage(agent.DefaultScope, from, skip, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		view.AddBodies(agent.DefaultScope, &page)
		view.Close()
		line := ""
		for _, c := range page.Changes {
			line += fmt.Sprintf("%s:%t ", c.Key, c.Body != nil)
		}
		got = append(got, strings.TrimSpace(line))
		from, skip = page.Next, page.Skip
	}
	if want := []string{"0:false 1:false", "2:true", "0:true 1:false"}; !slices.Equal(got, want) {
		t.Errorf("the pages are %q, want %q", got, want)
	}
}

// A change whose body was deleted has none, also if the page ends before the deletion, and what was written since has the
// same revision and time.
func TestAChangeHasNoBodyOfAnotherAtTheEndOfAPage(t *testing.T) {
	r := recording(t)
	r.batch(agent.Commit{Scope: agent.DefaultScope, Ops: []agent.Op{
		&agent.PutValue{Key: "k", Bytes: []byte("first")}, &agent.DeleteValue{Key: "k"}, &agent.PutValue{Key: "k", Bytes: []byte("second")},
	}})
	view := r.machine.View()
	defer view.Close()
	for skip, want := range []string{"", "", "second"} {
		page, err := view.ChangesPage(agent.DefaultScope, r.index, uint64(skip), "", 1)
		if err != nil || len(page.Changes) != 1 {
			t.Fatalf("%d changes, %v", len(page.Changes), err)
		}
		view.AddBodies(agent.DefaultScope, &page)
		got := ""
		if v, ok := page.Changes[0].Body.(*agent.Value); ok {
			got = string(v.Bytes)
		}
		if got != want {
			t.Errorf("change %d has the body %q, want %q", skip, got, want)
		}
	}
}
