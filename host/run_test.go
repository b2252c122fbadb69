package host

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/peer"
	"dormouse/cluster/transport"
	"dormouse/instance"
	"dormouse/node/nodetest"
)

// unfenced is a service that does not check who owns the partition of an instance: the cluster of
// the test does not know the host.
type unfenced struct{ agent.Service }

func (u unfenced) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	c.Fence = nil
	return u.Service.Commit(ctx, c)
}

// owner returns a host that owns all partitions and stores its instances in n. Its
// lease is valid for an hour.
func owner(t *testing.T, n *nodetest.Node) *Host {
	t.Helper()
	h := &Host{o: Options{Name: "h", Logger: hclog.NewNullLogger(), times: timesOf(false)}, table: newTable("h", time.Second), lease: assign.NewLease()}
	var err error
	if h.transport, err = transport.ListenHost(transport.HostOptions{
		Name: "h", Key: clustertest.Keys.Current().Host(), Network: clustertest.NewNetwork().Host("h"), Listen: "h:peer", Logger: h.o.Logger,
	}); err != nil {
		t.Fatal(err)
	}
	h.pool = peer.NewPool(h.transport.Dial)
	owned := make([]layout.Partition, layout.Partitions)
	for i := range owned {
		owned[i] = layout.Partition{ID: i, Owner: "h", Incarnation: h.transport.Process(), Epoch: 1, State: layout.PartitionOwned}
	}
	h.table.update(assign.TableUpdate{Index: 1, Partitions: owned})
	granted, stop := context.WithCancel(t.Context())
	never := func() <-chan struct{} { return nil }
	if err := h.lease.Keep(granted, time.Hour, never, func(context.Context) (bool, error) { stop(); return true, nil }); err != nil {
		t.Fatal(err)
	}
	if h.instances, err = instance.New(instance.Options{
		Node: "h", Incarnation: h.transport.Process(), Service: unfenced{n.Client}, Ownership: h.Ownership(), Logger: h.o.Logger,
	}); err != nil {
		t.Fatal(err)
	}
	return h
}

// A host of which a part fails stops in order: it stores what its instances have not stored.
func TestAPartThatFailsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t)
		h := owner(t, n)
		refused, refuse := errors.New("refused"), make(chan struct{})
		keepLease := func(context.Context) error { <-refuse; return refused }
		ran := make(chan error, 1)
		go func() { ran <- h.run(t.Context(), h.transport.Run, keepLease, h.instances.Run) }()
		documents := agent.Manager{Name: "documents", Handler: agent.Handler{Kind: agent.HandlerDocument}, Durability: agent.DurabilityIdle}
		if _, err := n.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutManager{Manager: documents}}}); err != nil {
			t.Fatal(err)
		}
		ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: documents.Name, Key: "a"}
		if _, err := h.instances.Signal(t.Context(), ref, agent.Signal{Type: "patch", Data: agent.JSON(`{"a":1}`)}); err != nil {
			t.Fatal(err)
		}
		close(refuse)
		if err := <-ran; !errors.Is(err, refused) {
			t.Errorf("it ended with: %v", err)
		}
		if s, err := h.instances.Stats(t.Context(), ref.Scope, ref.Manager); err != nil || s.Nodes[0].Hibernated != 1 {
			t.Errorf("after the stop: %+v, %v; want one instance that hibernated", s, err)
		}
	})
}
