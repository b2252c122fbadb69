package router

import (
	"context"
	"slices"

	"dormouse/agent"
	"dormouse/placement"
)

// Leases is which processes keep instances, and with which handlers, as this
// node has applied it.
type Leases interface {
	NodeLeases() []agent.NodeLease
	Members() []agent.Member
	PartitionsChanged() <-chan struct{} // closed when a lease begins or ends, too
}

// HandlerPeers reaches the handlers of other processes.
type HandlerPeers interface {
	Handlers(addr string) agent.Handlers // of the process at that peer address
}

// Errands implements agent.Handlers by the handlers of other processes. The
// errands of a partition go to one of those that have what is asked for, and to
// the next where that one does not answer, or loses its lease meanwhile.
type Errands struct {
	node   string
	leases Leases
	peers  HandlerPeers
}

// NewErrands sends the errands of the process of that name.
func NewErrands(node string, leases Leases, peers HandlerPeers) *Errands {
	return &Errands{node: node, leases: leases, peers: peers}
}

// able is a process that can do an errand.
type able struct {
	lease agent.NodeLease
	addr  string
}

// Handle implements agent.Handlers.
func (r *Errands) Handle(ctx context.Context, e agent.Errand) (agent.Handled, error) {
	all := r.able(&e)
	if len(all) == 0 {
		return agent.Handled{}, r.nobody(&e)
	}
	var last error
	for _, a := range all {
		done, err := r.ask(ctx, a, e)
		if err == nil {
			return done, nil
		}
		if ctx.Err() != nil {
			return agent.Handled{}, context.Cause(ctx)
		}
		last = err
	}
	err := agent.Errorf(agent.CodeUnavailable, "none of the %d processes with Go handler %q, which manager %q names at version %d, does what it is asked: %v",
		len(all), e.Handler, e.Manager, e.Version, last)
	err.Reason = "not_registered"
	return agent.Handled{}, err
}

// able is who can do the errand, in the order of its partition.
func (r *Errands) able(e *agent.Errand) []able {
	wanted := e.Wanted()
	has := func(handler string) bool { return handler == wanted[0] || handler == wanted[1] }
	members := r.leases.Members()
	var nodes []placement.Node
	of := map[string]able{}
	for _, l := range r.leases.NodeLeases() {
		at := slices.IndexFunc(members, func(m agent.Member) bool { return m.ID == l.Node })
		if l.Node == r.node || at < 0 || !slices.ContainsFunc(l.Handlers, has) {
			continue
		}
		nodes = append(nodes, placement.Node{Name: l.Node, Weight: members[at].Weight})
		of[l.Node] = able{l, members[at].RaftAddr}
	}
	var all []able
	for _, c := range placement.Candidates(placement.Partition(e.Scope, e.Manager, e.Key), nodes) {
		all = append(all, of[c.Node.Name])
	}
	return all
}

// nobody says that no process can do the errand: it may start any time.
func (r *Errands) nobody(e *agent.Errand) error {
	err := agent.Errorf(agent.CodeUnavailable, "no process of the cluster has Go handler %q for version %d, which manager %q names: start the program that has",
		e.Handler, e.Version, e.Manager)
	err.Reason = "not_registered"
	return err
}

// ask has one process do the errand, for as long as its lease stands: one that
// is cut off is not waited for longer than that.
func (r *Errands) ask(ctx context.Context, a able, e agent.Errand) (agent.Handled, error) {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			changed := r.leases.PartitionsChanged() // taken before the look
			if !r.stands(a.lease) {
				cancel()
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	done, err := r.peers.Handlers(a.addr).Handle(ctx, e)
	cancel()
	<-watched
	return done, err
}

func (r *Errands) stands(l agent.NodeLease) bool {
	return slices.ContainsFunc(r.leases.NodeLeases(), func(now agent.NodeLease) bool { return now.Node == l.Node && now.Life == l.Life })
}
