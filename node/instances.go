package node

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/cluster"
	"dormouse/cluster/assign"
	"dormouse/cluster/peer"
	"dormouse/eraser"
	"dormouse/fsm"
	"dormouse/instance"
	"dormouse/instance/pod/controller"
	"dormouse/router"
	"dormouse/server/grpc"
	"dormouse/timer"
)

// ownership implements instance.Ownership from what this node has applied.
type ownership struct {
	*fsm.Machine
	group *cluster.Group
}

// LeaseUntil implements instance.Ownership.
func (o ownership) LeaseUntil() time.Time { return o.group.Partitions().LeaseUntil() }

// ReleasePartitions implements instance.Ownership.
func (o ownership) ReleasePartitions(ctx context.Context, all []agent.Partition) error {
	held := make([]assign.Held, len(all))
	for i, p := range all {
		held[i] = assign.Held{Partition: p.ID, Epoch: p.Epoch}
	}
	return o.group.Partitions().Release(ctx, held)
}

// KeepPartition implements instance.Ownership.
func (o ownership) KeepPartition(ctx context.Context, p agent.Partition, why string) error {
	return o.group.Partitions().Keep(ctx, assign.Held{Partition: p.ID, Epoch: p.Epoch}, why)
}

// endings is where the leader notes that the live instance of an erased agent has
// ended.
type endings struct {
	machine *fsm.Machine
	group   *cluster.Group
}

// EndInstance implements eraser.Log.
func (e endings) EndInstance(ctx context.Context, one agent.Ending, awake bool) error {
	return e.group.Propose(ctx, e.machine.EncodeEndInstance(one, awake))
}

// keeper keeps this node's instances and routes calls on all. While this node
// leads it fires timers, and ends the live instances of agents that were erased.
type keeper struct {
	host   *instance.Host
	router *router.Instances
	waker  *timer.Waker
	eraser *eraser.Eraser

	end   context.CancelFunc // nil before they run
	ended chan struct{}      // closed when they have ended
}

// openInstances makes what keeps instances, on top of the contract.
func (n *Node) openInstances() error {
	c := n.o.Config
	keys, err := signingKeys(c.Instances.Keys)
	if err != nil {
		return fault("instances.keys", err, codeConfig)
	}
	k := &keeper{ended: make(chan struct{})}
	k.host, err = instance.New(instance.Options{
		Node: c.Node.ID, Incarnation: n.group.Process(), Service: n.service, Ownership: ownership{n.machine, n.group},
		Handlers: controller.WithPods(n.o.Handlers, n.Instances),
		Remote:   router.NewRemoteTurns(c.Node.ID, n.machine, n.pool),
		Webhooks: instance.Webhooks{Allow: c.Instances.HTTPAllow, Keys: keys},
		AwakeMax: c.Instances.AwakeMax, Logger: n.logger.Named("instances"),
	})
	if err != nil {
		return fault("instances", err, codeConfig)
	}
	k.router = router.NewInstances(c.Node.ID, k.host, n.machine, n.pool)
	k.waker = timer.New(timer.Options{
		Source: n.machine, Leader: n.group, Service: n.service, Instances: k.router, Logger: n.logger.Named("timers"),
	})
	k.eraser = eraser.New(eraser.Options{
		Source: n.machine, Leader: n.group, Instances: k.router, Log: endings{n.machine, n.group}, Logger: n.logger.Named("eraser"),
	})
	n.keeper = k
	grpc.RegisterPeerInstances(n.peers, k.host, k.router.Relayed())
	peer.RegisterHandlers(n.peers, k.host)
	n.metrics.registry.MustRegister(k.host.Collector())
	return nil
}

// Instances is the contract of live instances, as any front of this node serves
// it.
func (n *Node) Instances() agent.Instances { return n.keeper.router }

// run keeps instances until ctx ends or quit is called.
func (k *keeper) run(ctx context.Context) error {
	defer close(k.ended)
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return k.host.Run(ctx) })
	parts.Go(func() error { return k.waker.Run(ctx) })
	parts.Go(func() error { return k.eraser.Run(ctx) })
	return parts.Wait()
}

// quitInstances stores what is awake here and gives its partitions up, so that
// others have them at once. It takes half of the time that is left at most: what
// is not stored by then is as after a crash, and the rest of the node is to stop
// in order.
func (n *Node) quitInstances(ctx context.Context) {
	if n.keeper == nil || n.keeper.end == nil {
		return
	}
	half := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		half, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	if err := n.keeper.host.Shutdown(half); err != nil {
		n.logger.Warn("not every instance was stored before this node stopped", "error", err)
	}
	n.group.Partitions().EndLease(ctx) // bounds itself: a shutdown that used its half up must not cost it
	n.keeper.end()
	select {
	case <-n.keeper.ended:
	case <-half.Done(): // a handler hangs; it ends with the process
	}
}

// secretBytesMax bounds the file of a signing key.
const secretBytesMax = 4096

// signingKeys reads the keys that requests to HTTP handlers are signed with, of
// the form name=file.
func signingKeys(settings []string) (map[string][]byte, error) {
	keys := map[string][]byte{}
	for _, setting := range settings {
		name, file, ok := strings.Cut(setting, "=")
		if !ok || name == "" || file == "" {
			return nil, fmt.Errorf("%q: write name=file", setting)
		}
		secret, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the key %q: %w", name, err)
		}
		if len(secret) > secretBytesMax {
			return nil, fmt.Errorf("the key %q has more than %d bytes", name, secretBytesMax)
		}
		keys[name] = []byte(strings.TrimSpace(string(secret)))
	}
	return keys, nil
}
