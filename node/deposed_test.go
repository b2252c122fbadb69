package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// deposedMax is what a commit may take that is on its way to a leader that is cut
// off: until the others have elected one, at worst after a second ballot, and the
// old one has had its time to answer. Nobody is told sooner that a link is dead.
const deposedMax = 5 * time.Second

// keyOf is a key of manager "docs" that lives on a node.
func (s *street) keyOf(owner *resident) string {
	s.t.Helper()
	for _, key := range s.keys {
		if s.signal(owner.name, key).Node == owner.name {
			return key
		}
	}
	s.t.Fatalf("no instance lives on %s", owner.name)
	return ""
}

// cutTheLeader cuts the leader off once all have heard how far it is; whatever the
// others send it from now on is never answered.
func (w *town) cutTheLeader() (began time.Time) {
	time.Sleep(100 * time.Millisecond)
	w.isolate(w.leader().name)
	return time.Now()
}

// A turn whose commit is on its way to a leader that is cut off is stored by the
// next leader soon after there is one, once.
func TestATurnOutlivesTheLeaderThatItsCommitWentToSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStreet(t, 3, 24)
		s.even("n1", "n2", "n3")
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

// What a node forwarded to a leader that is cut off is unknown soon after another
// leads, and the next leader tells what became of it; reads go to it as soon.
func TestANodeHeedsAChangeOfLeaderSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := simTown(t, 3)
		through := w.follower()
		if err := put(t.Context(), through.Service(), "k", 1); err != nil { // the stream is open
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
