package node_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// oldLevel is the feature level of a build that does not index conversations by agent or owner.
const oldLevel = 3

// conversationsOf lists an agent's conversations from a node's own state. It returns their number,
// or the refusal: the index is not complete yet, or the restarted node has not yet applied its log.
func (r *testNode) conversationsOf(t *testing.T, name string) (n int, refusal *agent.Error) {
	t.Helper()
	list := &agent.ListConversations{Agent: name, Page: agent.Page{Limit: agent.ListLimitMax}}
	for {
		answers, err := r.Store().Read(t.Context(), agent.Reads{Stale: true, Reads: []agent.Read{list}})
		if errors.As(err, &refusal) && refusal.Code == agent.CodeUnavailable {
			return 0, refusal
		}
		if err != nil {
			t.Fatal(err)
		}
		page, ok := answers.Answers[0].Found.(*agent.ConversationList)
		if !ok {
			return 0, answers.Answers[0].Err
		}
		if n += len(page.Items); page.Next == "" {
			return n, nil
		}
		list.After = page.Next
	}
}

// A cluster is upgraded, node by node, to a version that indexes conversations by agent, and loses
// its leader during the backfill. The next leader continues it, lists are refused until it is
// complete, and an erasure meanwhile erases all conversations of its agent.
func TestConversationsFromBeforeAreFoundThoughTheLeaderIsLostSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.level = oldLevel
		w.found(3)
		before := 40 * agent.ConversationsFoundMax
		if raceDetector {
			before /= 4
		}
		for made := 0; made < before; {
			var ops []agent.Op
			for range agent.CommitOpsMax {
				ref := agent.ConversationRef{ID: fmt.Sprintf("%06d", made), Agent: []string{"a", "b"}[made%2], Owner: "o"}
				ops = append(ops, &agent.PendMessage{ConversationRef: ref, Message: agent.JSON(`{}`)})
				made++
			}
			if _, err := w.leader().Store().Commit(t.Context(), agent.Commit{Ops: ops}); err != nil {
				t.Fatal(err)
			}
		}
		w.level = 0
		for i := range 3 {
			if _, refusal := w.leader().conversationsOf(t, "a"); refusal == nil || refusal.Code != agent.CodeUnavailable {
				t.Fatalf("with %d nodes of the new version: %v", i, refusal)
			}
			w.sleep(name(i))
			w.start(name(i))
			w.settle(3)
		}
		var lost *testNode
		for deadline := time.Now().Add(time.Minute); lost == nil; time.Sleep(time.Millisecond) {
			if leader := w.leader(); leader.Machine().FeatureLevel() > oldLevel {
				lost = leader
			} else if time.Now().After(deadline) {
				t.Fatal("the feature level does not rise")
			}
		}
		// The others would be asked too late: a read waits for the next leader, which may be done by then.
		if n, refusal := lost.conversationsOf(t, "b"); refusal == nil {
			t.Fatalf("the leader was not lost in the middle: it lists %d", n)
		}
		w.crash(lost.name)
		result, err := w.leader().Store().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.EraseAgent{Agent: "a"}}})
		if err != nil {
			t.Fatal(err)
		}
		if receipt := result.Results[0].(*agent.Erasure); receipt.Complete() {
			t.Fatalf("erased at once: %+v", receipt)
		}
		w.start(lost.name)
		for name, r := range w.awake {
			w.await("conversations to be listed by "+name, func() bool {
				n, refusal := r.conversationsOf(t, "b")
				if refusal == nil && n != before/2 {
					t.Fatalf("%s lists %d of %d conversations", name, n, before/2)
				}
				return refusal == nil
			})
		}
		var receipt *agent.Erasure
		w.await("the erasure to be complete", func() bool {
			answers, err := w.leader().Store().Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetErasure{Agent: "a"}}})
			if err != nil {
				return false
			}
			receipt, _ = answers.Answers[0].Found.(*agent.Erasure)
			return receipt != nil && receipt.Complete()
		})
		if *receipt.Conversations != uint64(before/2) {
			t.Fatalf("%d of %d conversations were erased", *receipt.Conversations, before/2)
		}
		w.agree()
	})
}
