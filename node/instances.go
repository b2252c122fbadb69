package node

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster"
	"dormouse/cluster/assign"
	"dormouse/cluster/peer"
	"dormouse/config"
	"dormouse/eraser"
	"dormouse/fsm"
	"dormouse/instance"
	"dormouse/instance/pod/controller"
	"dormouse/internal/secretfile"
	"dormouse/router"
	"dormouse/server/grpc"
	"dormouse/timer"
)

// ownership implements instance.Ownership from the state that this node has applied.
type ownership struct {
	*fsm.Machine
	group *cluster.Group
}

// LeaseUntil implements instance.Ownership.
func (o ownership) LeaseUntil() time.Time { return o.group.Partitions().LeaseUntil() }

// ReleasePartitions implements instance.Ownership.
func (o ownership) ReleasePartitions(ctx context.Context, all []layout.Partition) error {
	held := make([]assign.Held, len(all))
	for i, p := range all {
		held[i] = assign.Held{Partition: p.ID, Epoch: p.Epoch}
	}
	return o.group.Partitions().Release(ctx, held)
}

// KeepPartition implements instance.Ownership.
func (o ownership) KeepPartition(ctx context.Context, p layout.Partition, why string) error {
	return o.group.Partitions().Keep(ctx, assign.Held{Partition: p.ID, Epoch: p.Epoch}, why)
}

// endings implements eraser.Log: it records that the live instance of an erased agent has ended.
type endings struct {
	machine *fsm.Machine
	group   *cluster.Group
}

// EndInstance implements eraser.Log.
func (e endings) EndInstance(ctx context.Context, one agent.Ending, awake bool) error {
	return e.group.Propose(ctx, e.machine.EncodeEndInstance(one, awake))
}

// instanceHost runs this node's instances and routes calls on all. While this node leads, it fires
// timers, and ends the live instances of erased agents.
type instanceHost struct {
	host   *instance.Host
	router *router.Instances
	waker  *timer.Waker
	eraser *eraser.Eraser

	end   context.CancelFunc // nil before they run
	ended chan struct{}      // closed when they have ended
}

// openInstances creates the instance host, on top of the service.
func (n *Node) openInstances() error {
	c := n.o.Config
	keys, err := signingKeys(c.Instances.Keys)
	if err != nil {
		return fault("instances.keys", err, codeConfig)
	}
	k := &instanceHost{ended: make(chan struct{})}
	k.host, err = instance.New(instance.Options{
		Node: c.Node.ID, Incarnation: n.group.Process(), Service: n.service, Ownership: ownership{n.machine, n.group},
		Handlers:      controller.WithPods(n.o.Handlers, n.Instances),
		Remote:        router.NewRemoteTurns(c.Node.ID, n.machine, n.pool),
		Webhooks:      instance.Webhooks{Allow: c.Instances.HTTPAllow, Keys: keys},
		AwakeMax:      c.Instances.AwakeMax,
		ScopeAwakeMax: func(scope string) uint64 { return n.limiter.Policy(scope).AwakeMax }, Logger: n.logger.Named("instances"), Tracer: tracerOf(n.tracing),
	})
	if err != nil {
		return fault("instances", err, codeConfig)
	}
	k.router = router.NewInstances(c.Node.ID, k.host, n.machine, n.pool)
	k.router.Moved, k.router.Stopping = config.TimingOf(c.Cluster.Timing).Deposed, n.stopping
	k.waker = timer.New(timer.Options{
		Source: n.machine, Leader: n.group, Service: n.service, Instances: k.router, Logger: n.logger.Named("timers"),
	})
	k.eraser = eraser.New(eraser.Options{
		Source: n.machine, Leader: n.group, Instances: k.router, Log: endings{n.machine, n.group}, Logger: n.logger.Named("eraser"),
	})
	n.instanceHost = k
	grpc.RegisterPeerInstances(n.peers, k.host, k.router.Relayed())
	peer.RegisterHandlers(n.peers, k.host)
	n.metrics.registry.MustRegister(k.host.Collector())
	return nil
}

// Instances returns the service of live instances. Like Service it checks no rights.
func (n *Node) Instances() agent.Instances { return n.instanceHost.router }

// run runs instances until ctx ends or quitInstances is called.
func (k *instanceHost) run(ctx context.Context) error {
	defer close(k.ended)
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return k.host.Run(ctx) })
	parts.Go(func() error { return k.waker.Run(ctx) })
	parts.Go(func() error { return k.eraser.Run(ctx) })
	return parts.Wait()
}

// quitInstances stores this node's awake instances and releases its partitions, so that other nodes
// can own them at once. It takes at most half of the remaining time. Instances that are not stored
// by then are as after a crash; the rest of the time is for an orderly stop of the other parts.
func (n *Node) quitInstances(ctx context.Context) {
	if n.instanceHost == nil || n.instanceHost.end == nil {
		return
	}
	first, cancel := half(ctx)
	defer cancel()
	if err := n.instanceHost.host.Shutdown(first); err != nil {
		n.logger.Warn("not every instance was stored before this node stopped", "error", err)
	}
	n.group.Partitions().EndLease(ctx) // has its own timeout, which the first half of the shutdown must not use up
	n.instanceHost.end()
	select {
	case <-n.instanceHost.ended:
	case <-first.Done(): // a handler hangs; it ends with the process
	}
}

// secretBytesMax bounds the file of a signing key.
const secretBytesMax = 4096

// signingKeys reads the keys that sign requests to HTTP handlers, from settings of the form
// name@host/scope=file.
func signingKeys(settings []string) ([]instance.WebhookKey, error) {
	var keys []instance.WebhookKey
	for _, setting := range settings {
		binding, file, ok := strings.Cut(setting, "=")
		name, target, bound := strings.Cut(binding, "@")
		host, scope, scoped := strings.Cut(target, "/")
		if !ok || !bound || !scoped || name == "" || host == "" || scope == "" || file == "" {
			return nil, fmt.Errorf("%q: write name@host/scope=file, such as billing@agents.example.com/team-*=billing.key; the scope * means all", setting)
		}
		secret, err := secretfile.Read(file)
		if err != nil {
			return nil, fmt.Errorf("read the key %q: %w", name, err)
		}
		if len(secret) > secretBytesMax {
			return nil, fmt.Errorf("the key %q has more than %d bytes", name, secretBytesMax)
		}
		keys = append(keys, instance.WebhookKey{Name: name, Host: host, Scope: scope, Secret: []byte(strings.TrimSpace(secret))})
	}
	return keys, nil
}
