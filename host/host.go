package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	rpc "google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/cluster"
	"dormouse/cluster/peer"
	"dormouse/instance"
	"dormouse/instance/pod/controller"
	"dormouse/internal/pause"
	"dormouse/router"
	"dormouse/server/grpc"
)

const (
	// findRetry paces the search for a node that answers.
	findRetry = 100 * time.Millisecond
	// hibernateTimeout is how long a host that stops gives its instances to hibernate.
	hibernateTimeout = 10 * time.Second
)

// Host is a program's part in a cluster. Open makes it, Run runs it and closes
// it. Other methods may be called concurrently.
type Host struct {
	o        Options
	handlers []string // as its lease names them

	line  *cluster.Line
	pool  *peer.Pool
	table *table
	lease *cluster.Lease

	client    *client.Client
	instances *instance.Host
	router    *router.Instances
	server    *rpc.Server
}

// Open finds the cluster, and returns once a node has told who is in it, or ctx
// ends. The host joins with Run. On an error nothing is left open.
func Open(ctx context.Context, o Options) (*Host, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open a host: %w", err)
	}
	h := &Host{o: o, handlers: instance.Registered(o.Instance.Handlers), table: newTable(o.Name), lease: cluster.NewLease()}
	if h.line, err = cluster.OpenLine(o.Name, o.Network, o.Listen, o.Advertise, o.Logger.Named("line")); err != nil {
		return nil, fmt.Errorf("open a host: %w", err)
	}
	h.pool = peer.NewPool(h.line.Dial)
	if err = h.findCluster(ctx); err == nil {
		err = h.build()
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("open host %s: %w", o.Name, err)
	}
	return h, nil
}

// findCluster learns which cluster this is, and who its nodes are.
func (h *Host) findCluster(ctx context.Context) error {
	why := make([]error, len(h.o.Join)) // of each node, the last
	for at := 0; ; at = (at + 1) % len(why) {
		err := h.findAt(ctx, h.o.Join[at])
		if err == nil {
			return nil
		}
		pause.For(ctx, findRetry)
		over := ctx.Err() != nil // which may have cut this try short
		if why[at] == nil || !over && why[at].Error() != err.Error() {
			h.o.Logger.Warn("no cluster to join yet", "node", h.o.Join[at], "error", err)
			why[at] = err
		}
		if over {
			return fmt.Errorf("no node of %v answers: %w", h.o.Join, errors.Join(why...))
		}
	}
}

func (h *Host) findAt(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	status, err := h.pool.Status(ctx, addr)
	switch {
	case err != nil:
		return err
	case status.ClusterID == "":
		return agent.Errorf(agent.CodeUnavailable, "node %s belongs to no cluster yet", status.Node)
	}
	if err := h.line.Adopt(status.ClusterID); err != nil {
		return err
	}
	stream, err := h.pool.Table(ctx, addr)
	if err != nil {
		return err
	}
	if err := stream.Ask(1); err != nil {
		return err
	}
	u, err := stream.Next()
	if err != nil {
		return err
	}
	h.table.update(u)
	if len(h.endpoints()) == 0 {
		return agent.Errorf(agent.CodeUnavailable,
			"node %s knows of no node that tells where it serves gRPC: have nodes advertise it, or name them in Client.Endpoints", status.Node)
	}
	return nil
}

// endpoints are where the host reads and commits: as it was told, or else where
// the nodes that it hears of serve clients.
func (h *Host) endpoints() []string {
	if len(h.o.Client.Endpoints) > 0 {
		return h.o.Client.Endpoints
	}
	var found []string
	for _, m := range h.table.Members() {
		if m.GRPCAddr != "" {
			found = append(found, m.GRPCAddr)
		}
	}
	return found
}

// build makes what keeps instances, on top of what was found.
func (h *Host) build() error {
	c := h.o.Client
	c.Endpoints = h.endpoints()
	var err error
	if h.client, err = client.Dial(c); err != nil {
		return err
	}
	o := h.o.Instance
	o.Node, o.Incarnation, o.Logger = h.o.Name, h.line.Life(), h.o.Logger.Named("instances")
	o.Handlers = controller.WithPods(o.Handlers, h.Instances)
	o.Remote = router.NewRemoteTurns(h.o.Name, h.table, h.pool)
	o.Service, o.Ownership = service{h.client, h.table}, h.Ownership()
	if h.instances, err = instance.New(o); err != nil {
		return err
	}
	h.router = router.NewInstances(h.o.Name, h.instances, h.table, h.pool)
	h.server = rpc.NewServer(append(peer.ServerOptions(), grpc.MessageLimits()...)...)
	grpc.RegisterPeerInstances(h.server, h.instances, h.router.Relayed())
	peer.RegisterHandlers(h.server, h.instances)
	return nil
}

// Ready is closed once the host is a member, and may own partitions.
func (h *Host) Ready() <-chan struct{} { return h.lease.Begun() }

// Service is the contract, through the client library. It serves from Open on.
func (h *Host) Service() agent.Submitter { return h.client }

// Instances are all live instances, wherever they are.
func (h *Host) Instances() agent.Instances { return h.router }

// Ownership is who owns what as this host knows it, and until when it may serve.
func (h *Host) Ownership() instance.Ownership { return ownership{h.table, h} }

// Owned are the partitions that this host answers for now; none where its lease
// does not stand. The caller must not change the slice.
func (h *Host) Owned() []agent.Partition {
	if !time.Now().Before(h.lease.Until()) {
		return nil
	}
	return h.table.owned(h.line.Life())
}

// Collector exposes the host's instances, what it owns and its lease to
// Prometheus, under the names that nodes have for theirs. It is the program's to
// register; of several hosts in a process each needs a label of its own.
func (h *Host) Collector() prometheus.Collector { return h.instances.Collector() }

// Addr is where nodes and other hosts reach this one.
func (h *Host) Addr() string { return h.line.Addr() }

// Run joins the cluster and serves until ctx ends; then it stores what is awake,
// gives up what it owns and leaves. The error says why the cluster will not have
// this host, or what failed. Call it once.
func (h *Host) Run(ctx context.Context) error {
	parts, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	life, end := context.WithCancel(failed)
	defer end()
	parts.Go(func() error { return h.line.Run(life) })
	parts.Go(func() error {
		err := h.server.Serve(h.line.Listener())
		if errors.Is(err, rpc.ErrServerStopped) || errors.Is(err, net.ErrClosed) {
			return nil
		}
		return err
	})
	parts.Go(func() error { return h.followTable(life) })
	parts.Go(func() error { return h.keepLease(life) })
	parts.Go(func() error { return h.instances.Run(life) })
	select {
	case <-ctx.Done():
	case <-failed.Done():
	}
	h.hibernate(failed)
	h.endLease()
	end()
	h.close()
	return parts.Wait()
}

// hibernate stores what is awake, within hibernateTimeout.
func (h *Host) hibernate(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hibernateTimeout)
	defer cancel()
	if err := h.instances.Shutdown(ctx); err != nil {
		h.o.Logger.Warn("not every instance was stored before this host left", "error", err)
	}
}

// close closes what has been opened. The server stops last: it accepts until the
// line is closed.
func (h *Host) close() {
	if h.client != nil {
		_ = h.client.Close()
	}
	_ = h.line.Close()
	h.pool.Close()
	if h.server != nil {
		h.server.Stop()
	}
}
