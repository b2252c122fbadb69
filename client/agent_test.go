package client_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/node/nodetest"
)

func TestTheReceiptOfAnErasureThatIsNeverCompleteComesWithTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{
			submit: func(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
				done(agent.Result{Index: 7, Results: []agent.OpResult{&agent.Erasure{Agent: "a", Index: 7}}}, nil)
			},
			read: func(context.Context, agent.Reads) (agent.Answers, error) {
				return agent.Answers{Index: 8, Answers: []agent.Answer{{Found: &agent.Erasure{Agent: "a", Index: 7, Threads: 1}}}}, nil
			},
		}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		receipt, err := c.EraseAgent(ctx, agent.EraseAgent{Agent: "a"})
		if agent.CodeOf(err) != agent.CodeUnavailable || receipt == nil || receipt.Index != 7 || receipt.Threads != 1 || receipt.Complete() {
			t.Errorf("%+v, %v", receipt, err)
		}
	})
}

// A whole agent on a real node: an older revision, a fork, ttls, and its erasure.
func TestWholeAgents(t *testing.T) {
	c := nodetest.Start(t)
	if _, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "x"}, {ID: "y"}}},
		&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`), Thread: &agent.Pointer{Thread: "t", Rev: 1}},
		&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":2}`), Thread: &agent.Pointer{Thread: "t", Rev: 2}},
		&agent.WriteMemory{Agent: "a", ID: "m", Content: "tea"},
		&agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "t"}},
	}}); err != nil {
		t.Fatal(err)
	}

	thawed, err := c.ThawRevision(t.Context(), "a", 1)
	if err != nil || string(thawed.Checkpoint.State) != `{"n":1}` || thawed.Thread.Rev != 1 || len(thawed.Entries) != 1 {
		t.Errorf("at revision 1: %+v, %v", thawed, err)
	}
	if _, err := c.ThawRevision(t.Context(), "a", 9); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("at a revision that never was: %v", err)
	}

	forked, err := c.ForkAgent(t.Context(), agent.ForkAgent{Agent: "a", NewAgent: "b", NewThread: "u", Revision: 1, Session: "s", NewSession: "r"})
	if err != nil || forked.Checkpoint.Key != "b" || forked.Thread.ID != "u" || forked.Thread.Rev != 1 || forked.Session.ID != "r" || forked.Memories != 1 {
		t.Errorf("forked: %+v, %v", forked, err)
	}

	before := time.Now().UnixMilli()
	thread, err := c.SetThreadTTL(t.Context(), "u", time.Hour)
	if err != nil || thread.Thread.ID != "u" || thread.Thread.ExpiresAt < before {
		t.Errorf("the fork's thread: %+v, %v", thread, err)
	}
	session, err := c.SetSessionTTL(t.Context(), "r", time.Hour)
	if err != nil || session.ID != "r" || session.ExpiresAt < before {
		t.Errorf("the fork's session: %+v, %v", session, err)
	}
	if thread, err = c.SetThreadTTL(t.Context(), "u", 0); err != nil || thread.Thread.ExpiresAt != 0 {
		t.Errorf("without a ttl: %+v, %v", thread, err)
	}

	receipt, err := c.EraseAgent(t.Context(), agent.EraseAgent{Agent: "a"})
	if err != nil || !receipt.Complete() || receipt.Revisions != 2 || receipt.Entries != 2 || receipt.Memories != 1 || receipt.Sessions != 1 {
		t.Errorf("erased: %+v, %v", receipt, err)
	}
	if again, err := c.GetErasure(t.Context(), "a"); err != nil || !reflect.DeepEqual(again, receipt) {
		t.Errorf("the receipt again: %+v, %v", again, err)
	}
	if _, err := c.Thaw(t.Context(), "a"); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("what was erased: %v", err)
	}
	if thawed, err := c.Thaw(t.Context(), "b"); err != nil || len(thawed.Entries) != 1 {
		t.Errorf("its fork: %+v, %v", thawed, err)
	}
}
