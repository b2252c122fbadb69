package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"dormouse/client"
	"dormouse/cluster/keys"
	"dormouse/internal/pause"
	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/sim/simdisk"
	"dormouse/jepsen/sim/simnet"
	"dormouse/jepsen/sim/trace"
	"dormouse/jepsen/workload"
)

// Cluster is a simulated cluster. It implements jepsen.Cluster.
type Cluster struct {
	options Options
	seeded  bool // the schedule is drawn from the seed
	lease   time.Duration
	redis   string // the scope that the nodes serve to clients of Redis; "" if they serve none
	plan    Plan
	trace   *trace.Trace
	log     hclog.Logger // of all nodes
	keys    keys.Ring
	net     *simnet.Network
	clients *simnet.Host
	hosts   []*host

	mu     sync.Mutex
	draw   *rand.Rand        // guarded by mu
	record *history.Recorder // guarded by mu; nil before the run
	counts map[string]int64  // guarded by mu; what the run met
	losing bool              // guarded by mu; a host has lost its disk and has not caught up
	starts uint32            // guarded by mu; of processes
}

// clientHost is the host of all clients.
const clientHost = "clients"

// newLog returns the log of the nodes. Its lines are made even if w is nil: a run has the
// same schedule with its log and without it.
func newLog(w io.Writer) hclog.Logger {
	if w == nil {
		w = io.Discard
	}
	return hclog.New(&hclog.LoggerOptions{Name: "dormouse", Level: hclog.Debug, Output: w, TimeFormat: "15:04:05.000000"})
}

// newCluster returns a cluster whose hosts do not run yet.
func newCluster(o Options, plan Plan, t *trace.Trace, seeded bool) *Cluster {
	c := &Cluster{
		options: o, seeded: seeded, plan: plan, trace: t, log: newLog(o.Log), lease: plan.Lease, keys: keys.Ring{keys.New()},
		draw: rand.New(rand.NewPCG(o.Seed, 1)), counts: map[string]int64{},
	}
	c.net = simnet.New(c.fork(), t, plan.Link)
	c.clients = c.net.Host(clientHost, "")
	for i := range o.Nodes {
		name := fmt.Sprintf("n%d", i+1)
		h := &host{cluster: c, name: name, ip: fmt.Sprintf("10.0.0.%d", i+1), id: name, knobs: plan.Knobs[i], news: make(chan struct{}), founds: i == 0}
		h.disk = simdisk.New(name, c.fork(), t, h.speed())
		c.hosts = append(c.hosts, h)
	}
	return c
}

// fork returns a generator of its own for a part of the cluster.
func (c *Cluster) fork() *rand.Rand {
	c.mu.Lock()
	defer c.mu.Unlock()
	return rand.New(rand.NewPCG(c.draw.Uint64(), c.draw.Uint64()))
}

// processesMax is how many processes the overlay tells apart: the next has the first one's number.
const processesMax = 1 << 10

// number returns the number of a new process. 0 is what belongs to no process: the clients.
func (c *Cluster) number() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts++
	return 1 + c.starts%(processesMax-1)
}

// formMax bounds the time until a new cluster serves.
const formMax = 2 * time.Minute

// form starts all hosts and waits until each serves, and all vote and know it.
func (c *Cluster) form(ctx context.Context) error {
	for _, h := range c.hosts {
		go h.supervise(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, formMax)
	defer cancel()
	for !c.formed() {
		if !pause.For(ctx, 20*time.Millisecond) {
			return errors.New("the simulated cluster did not form")
		}
	}
	return nil
}

func (c *Cluster) formed() bool {
	for _, h := range c.hosts {
		n := h.node()
		if n == nil || n.Ready() != nil {
			return false
		}
		voters := 0
		for _, m := range n.Group().Members() {
			if m.Voter {
				voters++
			}
		}
		if voters != len(c.hosts) {
			return false
		}
	}
	return true
}

// Members implements jepsen.Cluster.
func (c *Cluster) Members() []jepsen.Member {
	var all []jepsen.Member
	for _, h := range c.hosts {
		if h.node() != nil {
			all = append(all, jepsen.Member{Name: h.name, ID: h.nodeID(), GRPC: h.name + ":grpc", URL: "http://" + h.name + httpPort, Redis: h.name + redisPort})
		}
	}
	return all
}

// Dial implements jepsen.Cluster.
func (c *Cluster) Dial(scope string, roam bool, addrs ...string) (*client.Client, error) {
	return client.Dial(client.Options{
		Endpoints: addrs, Fixed: !roam, Scope: scope, Insecure: true,
		Dialer: func(ctx context.Context, addr string) (net.Conn, error) { return c.clients.Dial(ctx, addr) },
		DialOptions: []grpc.DialOption{
			grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
				workload.Attempted(ctx)
				return call(ctx, method, in, out, conn, options...)
			}),
		},
	})
}

// dialMax bounds how long an HTTP call waits for a connection: the transport goes on with a dial
// after the call that asked for it has ended.
const dialMax = 10 * time.Second

// Web implements jepsen.Cluster. Each process has connections of its own.
func (c *Cluster) Web() http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialMax)
		defer cancel()
		return c.clients.Dial(ctx, addr)
	}}
}

// Plan implements jepsen.Cluster.
func (c *Cluster) Plan() any { return c.plan }

// Sample implements jepsen.Cluster.
func (c *Cluster) Sample(_ context.Context, name string) (check.Sample, error) {
	for _, h := range c.hosts {
		n := h.node()
		if h.name != name || n == nil {
			continue
		}
		is := n.Group().LocalStatus()
		return check.Sample{
			Leader: c.hostOf(is.Leader), Term: is.Term, Commit: is.CommitIndex, Applied: is.AppliedIndex, Chain: is.Chain,
			Installs: int(n.Group().Stats().Installs),
		}, nil
	}
	return check.Sample{}, fmt.Errorf("%s does not run", name)
}

// hostOf returns the name of a node's host.
func (c *Cluster) hostOf(id string) string {
	for _, h := range c.hosts {
		if h.nodeID() == id {
			return h.name
		}
	}
	return id
}

// Missing implements jepsen.Cluster.
func (c *Cluster) Missing() []string {
	if c.seeded {
		return nil
	}
	return []string{"this build has no overlay: the schedule is not the seed's, disks take no time, clocks do not differ, and no process pauses"}
}

// leader returns the host whose node leads, or nil.
func (c *Cluster) leader() *host {
	var found *host
	var term uint64
	for _, h := range c.hosts {
		if n := h.node(); n != nil && n.Group().IsLeader() {
			if t := n.Group().LocalStatus().Term; found == nil || t > term {
				found, term = h, t
			}
		}
	}
	return found
}

// event records an event.
func (c *Cluster) event(e history.Event) {
	c.mu.Lock()
	record := c.record
	c.mu.Unlock()
	if record != nil {
		record.Event(e)
	}
}

// count adds to what the run met.
func (c *Cluster) count(what string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what] += n
}
