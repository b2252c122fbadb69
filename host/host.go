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
	"dormouse/agent/layout"
	"dormouse/client"
	"dormouse/cluster/assign"
	"dormouse/cluster/peer"
	"dormouse/cluster/transport"
	"dormouse/instance"
	"dormouse/instance/pod/controller"
	"dormouse/internal/pause"
	"dormouse/router"
	"dormouse/server/grpc"
)

const (
	// findRetry is the delay between attempts to find a node.
	findRetry = 100 * time.Millisecond
	// hibernateTimeout is how long a stopping host waits for its instances to
	// hibernate.
	hibernateTimeout = 10 * time.Second
)

// Host is a program's member of a cluster. Open makes it; Run runs and closes
// it. Other methods may be called concurrently.
type Host struct {
	o        Options
	handlers []string // as in its lease

	transport *transport.HostTransport
	pool      *peer.Pool
	table     *table
	lease     *assign.Lease

	client    *client.Client
	instances *instance.Host
	router    *router.Instances
	server    *rpc.Server
}

// Open finds the cluster. It returns when a node has sent the table, or when
// ctx ends. Run joins the cluster. After an error all resources are closed.
func Open(ctx context.Context, o Options) (*Host, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open a host: %w", err)
	}
	h := &Host{o: o, handlers: instance.Registered(o.Instance.Handlers), table: newTable(o.Name, o.times.slow), lease: assign.NewLease()}
	if h.transport, err = transport.ListenHost(transport.HostOptions{
		Name: o.Name, Key: o.key, Network: o.Network, Listen: o.Listen, Advertise: o.Advertise, Logger: o.Logger.Named("transport"),
	}); err != nil {
		return nil, fmt.Errorf("open a host: %w", err)
	}
	h.pool = peer.NewPool(h.transport.Dial)
	h.pool.Connect = o.times.connect
	if o.times.deposed > 0 {
		h.pool.Deposed = o.times.deposed
	}
	if err = h.findCluster(ctx); err == nil {
		err = h.build()
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("open host %s: %w", o.Name, err)
	}
	return h, nil
}

// findCluster learns the cluster's id and nodes.
func (h *Host) findCluster(ctx context.Context) error {
	why := make([]error, len(h.o.Join)) // the last error of each node
	for at := 0; ; at = (at + 1) % len(why) {
		err := h.findAt(ctx, h.o.Join[at])
		if err == nil {
			return nil
		}
		pause.For(ctx, findRetry)
		over := ctx.Err() != nil // ctx may have ended this attempt early
		if why[at] == nil || !over && why[at].Error() != err.Error() {
			h.o.Logger.Warn("cannot find the cluster yet", "node", h.o.Join[at], "error", err)
			why[at] = err
		}
		if over {
			return fmt.Errorf("no node of %v answers: %w", h.o.Join, errors.Join(why...))
		}
	}
}

func (h *Host) findAt(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, h.o.times.ask)
	defer cancel()
	status, err := h.pool.Status(ctx, addr)
	switch {
	case err != nil:
		return err
	case status.ClusterID == "":
		return agent.Errorf(agent.CodeUnavailable, "node %s belongs to no cluster yet", status.Node)
	}
	if err := h.transport.Adopt(status.ClusterID); err != nil {
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
			"node %s knows no node's gRPC address: have nodes advertise it, or set Client.Endpoints", status.Node)
	}
	return nil
}

// endpoints returns the addresses for reads and commits: those of the options,
// or else the gRPC addresses of the known nodes.
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

// build makes the client, the instances and their server.
func (h *Host) build() error {
	c := h.o.Client
	var err error
	if len(c.Endpoints) == 0 {
		if c.Token == "" {
			if c.Token, err = client.TokenFromEnvironment(); err != nil {
				return err
			}
		}
		if c.TLS == nil {
			if c.TLS, err = client.TLSFromEnvironment(); err != nil {
				return err
			}
		}
	}
	c.Endpoints = h.endpoints()
	if h.client, err = client.Dial(c); err != nil {
		return err
	}
	o := h.o.Instance
	o.Node, o.Incarnation, o.Logger = h.o.Name, h.transport.Process(), h.o.Logger.Named("instances")
	o.Handlers = controller.WithPods(o.Handlers, h.Instances)
	o.Remote = router.NewRemoteTurns(h.o.Name, h.table, h.pool)
	o.Service, o.Ownership = service{h.client, h.table}, h.Ownership()
	if o.ScopeAwakeMax == nil {
		o.ScopeAwakeMax = newPolicies(h.client).awakeMax
	}
	if h.instances, err = instance.New(o); err != nil {
		return err
	}
	h.router = router.NewInstances(h.o.Name, h.instances, h.table, h.pool)
	if h.o.times.deposed > 0 {
		h.router.Moved = h.o.times.deposed
	}
	h.server = rpc.NewServer(append(peer.ServerOptions(nil), grpc.MessageLimits()...)...)
	grpc.RegisterPeerInstances(h.server, h.instances, h.router.Relayed())
	peer.RegisterHandlers(h.server, h.instances)
	return nil
}

// Ready returns a channel that is closed once the host is a member and may own
// partitions.
func (h *Host) Ready() <-chan struct{} { return h.lease.Begun() }

// Service returns the client library's Service. It works after Open.
func (h *Host) Service() agent.Submitter { return h.client }

// Instances returns all live instances of the cluster.
func (h *Host) Instances() agent.Instances { return h.router }

// Ownership returns the owners of partitions as this host knows them, and the
// end of its lease.
func (h *Host) Ownership() instance.Ownership { return ownership{h.table, h} }

// Owned returns the partitions that this host may answer for now; none after
// its lease has expired. The caller must not change the slice.
func (h *Host) Owned() []layout.Partition {
	if !time.Now().Before(h.lease.Until()) {
		return nil
	}
	return h.table.owned(h.transport.Process())
}

// Collector returns a Prometheus collector of the host's instances, partitions
// and lease, with the metric names of nodes. The program registers it. Several
// hosts in one process need a label each.
func (h *Host) Collector() prometheus.Collector { return h.instances.Collector() }

// Addr returns the address for nodes and other hosts.
func (h *Host) Addr() string { return h.transport.Addr() }

// Run joins the cluster and serves until ctx ends. It then stores the awake
// instances, gives up its partitions and leaves. The error says why the cluster
// refused the host, or what failed. Call it once.
func (h *Host) Run(ctx context.Context) error {
	return h.run(ctx, h.transport.Run, h.serve, h.followTable, h.keepLease, h.instances.Run)
}

// run runs the parts of the host until ctx ends or a part fails, and then stops
// them in order. A part that fails does not end the others: the instances must
// be stored first.
func (h *Host) run(ctx context.Context, parts ...func(context.Context) error) error {
	running, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for _, part := range parts {
		running.Go(func() error { return part(runCtx) })
	}
	select {
	case <-ctx.Done():
	case <-failed.Done():
	}
	h.hibernate(context.WithoutCancel(ctx))
	h.endLease()
	stop()
	h.close()
	return running.Wait()
}

// serve serves nodes and other hosts until the transport is closed or the server
// is stopped.
func (h *Host) serve(context.Context) error {
	err := h.server.Serve(h.transport.Listener())
	if errors.Is(err, rpc.ErrServerStopped) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// hibernate stores the awake instances, within hibernateTimeout.
func (h *Host) hibernate(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hibernateTimeout)
	defer cancel()
	if err := h.instances.Shutdown(ctx); err != nil {
		h.o.Logger.Warn("some instances were not stored before this host left", "error", err)
	}
}

// close closes all resources. The server stops last, because it accepts
// connections until the transport is closed.
func (h *Host) close() {
	if h.client != nil {
		_ = h.client.Close()
	}
	_ = h.transport.Close()
	h.pool.Close()
	if h.server != nil {
		h.server.Stop()
	}
}
