package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// A node that restarts without a leader does not know how much of its log is committed. It must
// refuse stale reads, instead of answering that a committed value does not exist.
func TestANodeThatStartsAgainWithoutALeaderRefusesStaleReadsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		if err := put(t.Context(), w.leader().Service(), "k", 7); err != nil {
			t.Fatal(err)
		}
		w.agree()
		for i := range 3 {
			w.crash(name(i))
		}
		stale := agent.Reads{Stale: true, Reads: []agent.Read{&agent.GetCheckpoint{Key: "k"}}}
		alone := w.start("n2")
		for range 20 {
			time.Sleep(100 * time.Millisecond)
			if answers, err := alone.Service().Read(t.Context(), stale); agent.CodeOf(err) != agent.CodeUnavailable {
				t.Fatalf("without a leader: %+v, %v", answers, err)
			}
		}
		w.start("n1")
		w.await("n2 to serve", func() bool { return alone.Ready() == nil })
		w.await("n2 to answer a stale read", func() bool {
			answers, err := alone.Service().Read(t.Context(), stale)
			if err == nil && answers.Answers[0].Err != nil {
				t.Fatalf("with a leader: %v", answers.Answers[0].Err)
			}
			return err == nil
		})
		w.start("n3")
		w.settle(3)
	})
}
