package router

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
)

// statsTimeout is the time that one node has to count its instances.
const statsTimeout = 2 * time.Second

// Table holds the owners of partitions, as this node has applied them.
type Table interface {
	Partition(n int) layout.Partition
	PartitionsChanged() <-chan struct{} // closed at the next change of any of them
	Members() []layout.Member
}

// InstancePeers reaches the instances of other nodes by their peer addresses.
type InstancePeers interface {
	Pinger

	// Instances returns the instances of only the node at addr.
	Instances(addr string) agent.Instances

	// Relay returns the instances that the node at addr can reach.
	Relay(addr string) agent.Instances
}

// Instances implements agent.Instances on any node: each call goes to the owner of its partition.
// Instances repeats a call that was not handled, for example because its partition moves. It stops
// when the owner answers, leaderWaitTimeout has passed, or the caller's context ends. An owner that
// does not answer delays a call at most by the rest of its lease, or by 2*pingEvery+pingMax if only
// this node cannot reach it; see route. A call that may have been handled and must not be repeated
// returns CodeUnknown: the caller may send it again with the same request id. Instances may be used
// concurrently.
type Instances struct {
	// Moved is how long an attempt continues after the owner of its partition changes: an owner that
	// gave it up in order has answered, and the answer is on its way. It must not be changed after the
	// first use.
	Moved time.Duration

	// Stopping is closed when this node stops, or nil. Calls then wait for a new owner only if there is another member.
	Stopping <-chan struct{}

	node  string
	local agent.Instances // the instances of this node; nil if it keeps none
	table Table
	peers InstancePeers
	pings *pings
	relay bool // calls may go through other nodes
}

// NewInstances returns a router of the calls of the named node. local may be nil.
func NewInstances(node string, local agent.Instances, table Table, peers InstancePeers) *Instances {
	return &Instances{Moved: movedDefault, node: node, local: local, table: table, peers: peers, pings: newPings(peers), relay: true}
}

// Relayed returns a router for calls that another node sends through this one. It
// calls owners directly, so that a call passes at most one node on its way.
func (r *Instances) Relayed() *Instances {
	direct := *r
	direct.relay = false
	return &direct
}

// path is a network path to the owner of a partition.
type path struct {
	instances agent.Instances
	addr      string // the peer address that is called; "" within this process
}

// path returns the path to the owner of p after failed attempts that did not reach it: first the
// direct path, then through one other node after the other, then the direct path again.
func (r *Instances) path(p layout.Partition, failed int) (path, error) {
	if p.Owner == "" {
		return path{}, agent.Errorf(agent.CodeUnavailable, "partition %d has no owner now; are a majority of the voters and a node that keeps instances up?", p.ID)
	}
	members := r.table.Members()
	direct, err := r.direct(p.Owner, members)
	if err != nil || direct.addr == "" || !r.relay {
		return direct, err
	}
	if failed == 0 && r.pings.avoid(direct.addr) {
		failed = 1 // earlier calls did not reach it directly
	}
	if failed == 0 {
		return direct, nil
	}
	ways := []path{direct}
	for i := range members {
		m := members[(p.ID+i)%len(members)] // distributes partitions over the relays
		if m.ID != r.node && m.ID != p.Owner && !m.Host {
			ways = append(ways, path{r.peers.Relay(m.RaftAddr), m.RaftAddr})
		}
	}
	return ways[failed%len(ways)], nil
}

// direct returns the direct path to the instances of one node.
func (r *Instances) direct(node string, members []layout.Member) (path, error) {
	if node == r.node {
		if r.local == nil {
			return path{}, agent.Errorf(agent.CodeUnavailable, "this node keeps no instances")
		}
		return path{instances: r.local}, nil
	}
	at := slices.IndexFunc(members, func(m layout.Member) bool { return m.ID == node })
	if at < 0 {
		return path{}, agent.Errorf(agent.CodeUnavailable, "the owner %q is no member", node)
	}
	addr := members[at].RaftAddr
	return path{r.peers.Instances(addr), addr}, nil
}

// Elsewhere returns the gRPC address of the node that owns an instance, as this node has applied
// it. It returns "" if the owner is this node, or a host, which takes no outside calls, or if there
// is no owner.
func (r *Instances) Elsewhere(ref agent.InstanceRef) string {
	p := r.table.Partition(placement.Partition(ref.Scope, ref.Manager, ref.Key))
	if p.Owner == "" || p.Owner == r.node {
		return ""
	}
	members := r.table.Members()
	if at := slices.IndexFunc(members, func(m layout.Member) bool { return m.ID == p.Owner }); at >= 0 {
		return members[at].GRPCAddr
	}
	return ""
}

// moving reports whether the call was definitely not handled, and another attempt may succeed. A
// full mailbox is not retried here.
func moving(err error) bool {
	code := agent.CodeOf(err)
	return code == agent.CodeUnavailable || code == agent.CodeNotOwner
}

// noOwnerLeft returns a channel that is closed once no node can own the partitions: this one stops, and there is no other
// member. It returns nil if there is one.
func (r *Instances) noOwnerLeft() <-chan struct{} {
	for _, m := range r.table.Members() {
		if m.ID != r.node {
			return nil
		}
	}
	return r.Stopping
}

func retryAfter(err error) time.Duration {
	var e *agent.Error
	if errors.As(err, &e) {
		return time.Duration(max(0, e.RetryAfterMS)) * time.Millisecond
	}
	return 0
}

// settled returns the error for a caller that has waited long enough: ownership is internal to the
// cluster.
func settled(err error) error {
	if agent.CodeOf(err) != agent.CodeNotOwner {
		return err
	}
	return agent.Errorf(agent.CodeUnavailable, "the instance is moving to another node: %v", err)
}

// done returns the result of a call without an answer.
func done(err error) (struct{}, error) { return struct{}{}, err }

// Start implements agent.Instances.
func (r *Instances) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (agent.Instance, error) {
	return route(ctx, r, ref, repeatable, func(ctx context.Context, at agent.Instances) (agent.Instance, error) {
		return at.Start(ctx, ref, start)
	})
}

// Lookup implements agent.Instances.
func (r *Instances) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	return route(ctx, r, ref, repeatable, func(ctx context.Context, at agent.Instances) (agent.Instance, error) {
		return at.Lookup(ctx, ref)
	})
}

// Stop implements agent.Instances.
func (r *Instances) Stop(ctx context.Context, ref agent.InstanceRef) error {
	_, err := route(ctx, r, ref, once, func(ctx context.Context, at agent.Instances) (struct{}, error) {
		return done(at.Stop(ctx, ref))
	})
	return err
}

// Hibernate implements agent.Instances.
func (r *Instances) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	_, err := route(ctx, r, ref, repeatable, func(ctx context.Context, at agent.Instances) (struct{}, error) {
		return done(at.Hibernate(ctx, ref))
	})
	return err
}

// Attach implements agent.Instances. It generates a missing attachment name, so that retries make
// one attachment.
func (r *Instances) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	attach.Name(rand.Text())
	return route(ctx, r, ref, repeatable, func(ctx context.Context, at agent.Instances) (agent.Attached, error) {
		return at.Attach(ctx, ref, attach)
	})
}

// Detach implements agent.Instances.
func (r *Instances) Detach(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	_, err := route(ctx, r, ref, repeatable, func(ctx context.Context, at agent.Instances) (struct{}, error) {
		return done(at.Detach(ctx, ref, attachment))
	})
	return err
}

// Touch implements agent.Instances.
func (r *Instances) Touch(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	_, err := route(ctx, r, ref, repeatable, func(ctx context.Context, at agent.Instances) (struct{}, error) {
		return done(at.Touch(ctx, ref, attachment))
	})
	return err
}

// Signal implements agent.Instances.
func (r *Instances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	return route(ctx, r, ref, repeat(signal.Request.Client != ""), func(ctx context.Context, at agent.Instances) (agent.Reply, error) {
		return at.Signal(ctx, ref, signal)
	})
}

// Stats implements agent.Instances: it calls all members at once. A member that does not answer in
// time is listed with the reason.
func (r *Instances) Stats(ctx context.Context, scope, manager string) (agent.ManagerStats, error) {
	members := r.table.Members()
	counted := make([]agent.NodeStats, len(members))
	var asked sync.WaitGroup
	for i, m := range members {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, statsTimeout)
			defer cancel()
			counted[i] = agent.NodeStats{Node: m.ID}
			at, err := r.direct(m.ID, members)
			if err == nil {
				var stats agent.ManagerStats
				if stats, err = at.instances.Stats(ctx, scope, manager); err == nil && len(stats.Nodes) == 1 {
					counted[i] = stats.Nodes[0]
				}
			}
			if err != nil {
				counted[i].Error = err.Error()
			}
		})
	}
	asked.Wait()
	slices.SortFunc(counted, func(a, b agent.NodeStats) int { return cmp.Compare(a.Node, b.Node) })
	return agent.ManagerStats{Manager: manager, Nodes: counted}, nil
}
