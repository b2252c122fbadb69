package fsm_test

import (
	"testing"

	"dormouse/agent"
)

// A watch of a thread is a read too: it would find the thread without its entries, or with some of them.
func TestAThreadThatIsBeingImportedIsNotWatched(t *testing.T) {
	source := newSubject(t)
	do[*agent.ThreadResult](source, appendTo("t", `{}`, `{}`))
	e := exportOf(source, agent.DefaultScope)
	r := newSubject(t)
	do[*agent.ImportResult](r, e.begin("i"))
	for i, chunk := range e.chunks(1) {
		do[*agent.ImportResult](r, &agent.ImportScope{ID: "i", Chunk: uint64(i), Rows: chunk})
		view := r.machine.View()
		page, err := view.WatchPage("", "t", 0, 0, 10)
		view.Close()
		if agent.CodeOf(err) != agent.CodeConflict {
			t.Errorf("after chunk %d a watch has %+v, %v", i, page, err)
		}
	}
	do[*agent.ImportResult](r, &agent.ImportScope{ID: "i", Finish: true})
	view := r.machine.View()
	defer view.Close()
	if page, err := view.WatchPage("", "t", 0, 0, 10); err != nil || len(page.Entries) != 2 {
		t.Errorf("after the import a watch has %+v, %v", page, err)
	}
}
