package fsm_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"dormouse/agent"
)

// Readers that share the index of an agent during writes each get exactly what their own view
// holds.
func TestRecallsAmongWritesAreEachAsOfTheirView(t *testing.T) {
	r := newSubject(t)
	do[*agent.MemoryResult](r, note("m0", "tea 0"))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if why := recallOwnView(r); why != "" {
					t.Error(why)
					return
				}
			}
		})
	}
	for i := range 400 {
		id := fmt.Sprint("m", i%7)
		if i%5 == 3 {
			do[*agent.DeleteResult](r, &agent.DeleteMemory{Agent: "a", ID: id})
		} else {
			do[*agent.MemoryResult](r, note(id, fmt.Sprint("tea ", i)))
		}
	}
	close(stop)
	readers.Wait()
}

// recallOwnView compares what a text recall finds in a view with the list in that view.
func recallOwnView(r *subject) (why string) {
	view := r.machine.View()
	defer view.Close()
	list, ok := view.Answer("", &agent.ListMemories{Agent: "a"}).Found.(*agent.MemoryList)
	if !ok {
		return "the memories cannot be listed"
	}
	var want, got []string
	for _, m := range list.Items {
		want = append(want, m.ID+" "+m.Content)
	}
	answer := view.Answer("", &agent.Recall{Agent: "a", Mode: agent.ModeText, Query: "tea", Limit: 100})
	found, ok := answer.Found.(*agent.Recalled)
	if !ok {
		return fmt.Sprintf("recalled with error %v", answer.Err)
	}
	for _, item := range found.Items {
		got = append(got, item.Memory.ID+" "+item.Memory.Content)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("recalled %q, the view holds %q", got, want)
	}
	return ""
}
