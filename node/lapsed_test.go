package node_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
)

// guesses cuts an instance's owner off for longer than its lease, while another node takes the
// instance over and changes it. It then calls the former owner, and returns its answers, which it
// must not give.
func guesses(t *testing.T) []string {
	t.Helper()
	w := newPlacedCluster(t, 3)
	w.settled("n1", "n2", "n3")
	put := &agent.PutManager{Manager: agent.Manager{Name: "documents", Handler: agent.Handler{Kind: agent.HandlerDocument}}}
	if _, err := w.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
		t.Fatal(err)
	}
	owner, ref := w.follower(), agent.InstanceRef{Scope: agent.DefaultScope, Manager: "documents", Key: "k"}
	kept := func(seen *testNode) layout.Partition {
		return seen.Machine().Partition(placement.Partition(ref.Scope, ref.Manager, ref.Key))
	}
	for n := 0; kept(owner).Owner != owner.name; n++ {
		ref.Key = fmt.Sprint("k", n)
	}
	add := agent.Signal{Type: "append", Data: agent.JSON(`{"entries":{}}`)}
	if _, err := owner.Instances().Signal(t.Context(), ref, add); err != nil {
		t.Fatal(err)
	}

	old := kept(owner).Epoch
	w.isolate(owner.name)
	leader := w.leader()
	w.await("another to own the instance", func() bool { return kept(leader).Epoch != old && kept(leader).Owner != "" })
	if reply, err := leader.Instances().Signal(t.Context(), ref, add); err != nil || reply.Rev != 2 {
		t.Fatalf("at its next owner: %+v, %v", reply, err)
	}
	if kept(owner).Epoch != old {
		t.Fatal("the owner that was cut off has heard of the next one: it need not guess")
	}
	said := answers(owner.Instances(), ref)

	w.heal()
	w.await("the owner to hear of it", func() bool { return kept(owner).Epoch != old })
	if now, err := owner.Instances().Lookup(t.Context(), ref); err != nil || now.Rev != 2 {
		t.Errorf("when it is back: %+v, %v", now, err)
	}
	return said
}

// answers returns the answers of calls on an instance, except unavailable.
func answers(all agent.Instances, ref agent.InstanceRef) (said []string) {
	for what, call := range map[string]func(context.Context) (any, error){
		"lookup": func(ctx context.Context) (any, error) { return all.Lookup(ctx, ref) },
		"start":  func(ctx context.Context) (any, error) { return all.Start(ctx, ref, agent.StartInstance{}) },
		"attach": func(ctx context.Context) (any, error) { return all.Attach(ctx, ref, agent.Attach{}) },
		"touch":  func(ctx context.Context) (any, error) { return nil, all.Touch(ctx, ref, "") },
		"detach": func(ctx context.Context) (any, error) { return nil, all.Detach(ctx, ref, "nobody") },
		"get":    func(ctx context.Context) (any, error) { return all.Signal(ctx, ref, agent.Signal{Type: "get"}) },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		answer, err := call(ctx)
		cancel()
		if agent.CodeOf(err) != agent.CodeUnavailable {
			said = append(said, fmt.Sprintf("%s: %+v, %v", what, answer, err))
		}
	}
	return said
}

// CL-5, CL-8: a node that lost the quorum does not report the state of its instances, nor that they
// do not exist. Once its lease has ended it is unavailable, whatever it has in memory.
func TestAnOwnerThatWasCutOffGuessesNothingSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, said := range guesses(t) {
			t.Error(said)
		}
	})
}
