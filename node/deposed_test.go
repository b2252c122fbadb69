package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// deposedMax bounds a commit that was sent to a leader that is then cut off: the others elect a
// leader, at worst in a second ballot, and the old one has had its time to answer. A broken link is
// not reported any sooner.
const deposedMax = 5 * time.Second

// keyOf returns a key of manager "docs" that a node owns.
func (s *instanceCluster) keyOf(owner *testNode) string {
	s.t.Helper()
	for _, key := range s.keys {
		if s.signal(owner.name, key).Node == owner.name {
			return key
		}
	}
	s.t.Fatalf("no instance lives on %s", owner.name)
	return ""
}

// cutTheLeader cuts the leader off once all nodes have applied its entries. It never answers
// requests that are sent from then on.
func (w *simCluster) cutTheLeader() (began time.Time) {
	time.Sleep(100 * time.Millisecond)
	w.isolate(w.leader().name)
	return time.Now()
}

// A turn whose commit was sent to a leader that is cut off is stored once, soon after there is a
// next leader.
func TestATurnOutlivesTheLeaderThatItsCommitWentToSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newInstanceCluster(t, 3, 24)
		at := s.follower()
		s.keys = []string{s.keyOf(at)}
		began := s.cutTheLeader()
		s.signal(at.name, s.keys[0])
		if took := time.Since(began); took > deposedMax {
			t.Errorf("the turn took %v", took)
		}
		s.heal()
		s.whole(at.name)
		s.agree()
	})
}

// A commit that a node forwarded to a leader that is cut off fails as unknown soon after another
// node leads. The next leader then knows its outcome, and reads use it as soon.
func TestANodeHeedsAChangeOfLeaderSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		through := w.follower()
		if err := put(t.Context(), through.Service(), "k", 1); err != nil { // opens the stream
			t.Fatal(err)
		}
		began := w.cutTheLeader()
		read := make(chan time.Duration, 1)
		go func() {
			if _, err := get(t.Context(), through.Service(), "k"); err != nil {
				t.Errorf("read: %v", err)
			}
			read <- time.Since(began)
		}()
		commit := agent.Commit{
			Request: agent.Request{Client: "c", Seq: 1}, Ops: []agent.Op{&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"n":2}`)}},
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := through.Service().Commit(ctx, commit); agent.CodeOf(err) != agent.CodeUnknown {
			t.Errorf("a commit whose leader was cut off: %v, want unknown", err)
		}
		result, err := through.Service().Commit(ctx, commit)
		if err != nil || result.Results[0].(*agent.CheckpointResult).Revision != 2 {
			t.Errorf("again: %+v, %v", result, err)
		}
		if took := time.Since(began); took > deposedMax {
			t.Errorf("the commit took %v", took)
		}
		if took := <-read; took > deposedMax {
			t.Errorf("the read took %v", took)
		}
		w.heal()
		if again, err := through.Service().Commit(ctx, commit); err != nil || again.Index != result.Index {
			t.Errorf("once more: %+v, %v", again, err)
		}
		w.agree()
	})
}
