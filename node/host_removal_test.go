package node_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/membership"
)

// removeHost removes a member, as an operator does.
func (w *hostCluster) removeHost(name string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), rehomedMax+rehomedMax)
	defer cancel()
	if _, err := w.awake["n2"].Operator().Change(ctx, layout.ChangeLeave, name); err != nil {
		w.t.Fatalf("remove %s: %v", name, err)
	}
}

// An operator removes a running host: its partitions drain to the other one, its process ends, and
// only a new process of that name becomes a member again.
func TestAHostThatIsRemovedEndsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1, h2 := w.startHost("h1", recordingHandlers("tally", 1)), w.startHost("h2", recordingHandlers("tally", 1))
		w.await("both hosts to own a half", func() bool { return len(h1.Owned()) > 1800 && len(h2.Owned()) > 1800 })
		for i := range 12 {
			w.signal(w.awake["n1"].Instances(), fmt.Sprint("k", i))
		}
		w.removeHost("h1")
		if err := <-h1.done; !errors.Is(err, membership.ErrRefused) {
			t.Errorf("the removed one ended with: %v", err)
		}
		w.await("the other host to own everything", func() bool { return len(h2.Owned()) == layout.Partitions })
		if members := w.leader().Machine().Members(); len(members) != 4 {
			t.Errorf("the members are %+v", members)
		}
		for i := range 12 {
			if node := w.signal(w.awake["n1"].Instances(), fmt.Sprint("k", i)); node != "h2" {
				t.Errorf("k%d lives on %s", i, node)
			}
		}
		again := w.startHost("h1", recordingHandlers("tally", 1))
		<-again.Ready()
		w.await("it to own a half again", func() bool { return len(again.Owned()) > 1800 })
		w.whole()
		for _, g := range []*testHost{again, h2} {
			g.stop()
			if err := <-g.done; err != nil {
				t.Error(err)
			}
		}
	})
}

// A host that is cut off can be removed: it is removed within its lease, and is refused permanently
// once it reaches a node.
func TestAHostThatIsRemovedWhileItIsCutOffDoesNotComeBackSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1, h2 := w.startHost("h1", recordingHandlers("tally", 1)), w.startHost("h2", recordingHandlers("tally", 1))
		w.await("both hosts to own a half", func() bool { return len(h1.Owned()) > 1800 && len(h2.Owned()) > 1800 })
		for i := range 12 {
			w.signal(w.awake["n1"].Instances(), fmt.Sprint("k", i))
		}
		w.cutOff("h1")
		w.removeHost("h1")
		w.await("the other host to own everything", func() bool { return len(h2.Owned()) == layout.Partitions })
		if len(h1.Owned()) != 0 {
			t.Errorf("it still answers for %d partitions", len(h1.Owned()))
		}
		time.Sleep(time.Minute) // its connections have broken by then: it is refused when it dials
		w.heal()
		if err := <-h1.done; !errors.Is(err, membership.ErrRefused) {
			t.Errorf("the removed one ended with: %v", err)
		}
		for i := range 12 {
			if node := w.signal(w.awake["n1"].Instances(), fmt.Sprint("k", i)); node != "h2" {
				t.Errorf("k%d lives on %s", i, node)
			}
		}
		if members := w.leader().Machine().Members(); len(members) != 4 {
			t.Errorf("the members are %+v", members)
		}
		w.whole()
		h2.stop()
		if err := <-h2.done; err != nil {
			t.Error(err)
		}
	})
}

// A host keeps no data, so it gets no vote: an operator who asks for one is told.
func TestAHostIsNotPromotedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newHostCluster(t, 3)
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		<-h1.Ready()
		w.await("the node to know the host", func() bool { return len(w.awake["n2"].Machine().Members()) == 4 })
		ctx, cancel := context.WithTimeout(context.Background(), rehomedMax)
		defer cancel()
		if _, err := w.awake["n2"].Operator().Change(ctx, layout.ChangePromote, "h1"); agent.CodeOf(err) != agent.CodeConflict {
			t.Errorf("promoted: %v", err)
		}
		h1.stop()
		if err := <-h1.done; err != nil {
			t.Error(err)
		}
	})
}
