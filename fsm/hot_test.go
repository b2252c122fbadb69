package fsm_test

import (
	"fmt"
	"testing"

	"dormouse/agent"
)

// Many acknowledged answers are removed at once. None of them is in the apply cache or the read
// cache, so both caches stay.
func TestAcknowledgingAnswersKeepsWhatIsInMemory(t *testing.T) {
	r := newSubject(t)
	const agents = 300
	put := func(first, count, low uint64) {
		commits := []agent.Commit{}
		for n := range count {
			commits = append(commits, agent.Commit{
				Request: agent.Request{Client: "c", Seq: first + n, Low: low},
				Ops:     []agent.Op{&agent.PutCheckpoint{Key: fmt.Sprintf("k%d", n), State: agent.JSON(`{}`)}},
			})
		}
		for _, decided := range r.batch(commits...) {
			if decided.Err != nil {
				t.Fatal(decided.Err)
			}
		}
	}
	put(1, agents, 1)
	hot := r.machine.HotRows()
	if hot < agents {
		t.Fatalf("%d hot rows after %d checkpoints", hot, agents)
	}
	view := r.machine.View()
	if a := view.Answer("", &agent.GetCheckpoint{Key: "k7"}); a.Err != nil {
		t.Fatal(a.Err)
	}
	view.Close()
	warm := r.machine.WarmRows()
	if warm == 0 {
		t.Fatal("no warm rows after a checkpoint was read")
	}
	put(agents+1, 1, agents+1) // acknowledges the 300 before, and writes k0
	if got := r.machine.HotRows(); got < hot {
		t.Errorf("%d hot rows after answers went, want at least %d", got, hot)
	}
	if got := r.machine.WarmRows(); got != warm {
		t.Errorf("%d warm rows after answers went, want %d", got, warm)
	}
}
