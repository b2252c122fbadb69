package router

import (
	"context"
	"slices"
	"sync"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
)

// Leases holds the processes that keep instances and their handlers, as this node has applied them.
type Leases interface {
	NodeLeases() []layout.NodeLease
	Members() []layout.Member
	PartitionsChanged() <-chan struct{} // closed when a lease begins or ends, too
}

// HandlerPeers reaches the handlers of other processes.
type HandlerPeers interface {
	Pinger

	Handlers(addr string) layout.RemoteHandlers // of the process at that peer address
}

// RemoteTurns implements layout.RemoteHandlers by sending turns to other
// processes. The remote turns of a partition go to one process with the
// handler. If that process does not answer or loses its lease, the next one
// gets them.
type RemoteTurns struct {
	node   string
	leases Leases
	peers  HandlerPeers
	pings  *pings
}

// NewRemoteTurns returns a sender of the remote turns of the process of that name.
func NewRemoteTurns(node string, leases Leases, peers HandlerPeers) *RemoteTurns {
	return &RemoteTurns{node: node, leases: leases, peers: peers, pings: newPings(peers)}
}

// candidate is a process that can handle a remote turn.
type candidate struct {
	lease layout.NodeLease
	addr  string
}

// Handle implements layout.RemoteHandlers.
func (r *RemoteTurns) Handle(ctx context.Context, e layout.RemoteTurn) (layout.RemoteTurnResult, error) {
	all := r.candidates(&e)
	if len(all) == 0 {
		return layout.RemoteTurnResult{}, r.errNoCandidate(&e)
	}
	var last error
	for _, a := range all {
		done, err := r.send(ctx, a, e)
		if err == nil {
			return done, nil
		}
		if ctx.Err() != nil {
			return layout.RemoteTurnResult{}, context.Cause(ctx)
		}
		last = err
	}
	return layout.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "none of the %d processes with Go handler %q, which manager %q names at version %d, handled the turn: %v",
		len(all), e.Handler, e.Manager, e.Version, last)
}

// candidates returns the processes that can handle a remote turn, in the order
// of its partition.
func (r *RemoteTurns) candidates(e *layout.RemoteTurn) []candidate {
	wanted := e.HandlerNames()
	has := func(handler string) bool { return handler == wanted[0] || handler == wanted[1] }
	members := r.leases.Members()
	var nodes []placement.Node
	of := map[string]candidate{}
	for _, l := range r.leases.NodeLeases() {
		at := slices.IndexFunc(members, func(m layout.Member) bool { return m.ID == l.Node })
		if l.Node == r.node || at < 0 || !slices.ContainsFunc(l.Handlers, has) {
			continue
		}
		nodes = append(nodes, placement.Node{Name: l.Node, Weight: members[at].Weight})
		of[l.Node] = candidate{l, members[at].RaftAddr}
	}
	var all []candidate
	for _, c := range placement.Candidates(placement.Partition(e.Scope, e.Manager, e.Key), nodes) {
		all = append(all, of[c.Node.Name])
	}
	return all
}

// errNoCandidate returns the error for a remote turn that no process can handle
// now.
func (r *RemoteTurns) errNoCandidate(e *layout.RemoteTurn) error {
	err := agent.Errorf(agent.CodeUnavailable, "no process of the cluster has Go handler %q for version %d, which manager %q names: start a program that has it",
		e.Handler, e.Version, e.Manager)
	err.Reason = "not_registered"
	return err
}

// send sends a remote turn to one process. It fails when the process's lease
// ends or the process stops answering pings.
func (r *RemoteTurns) send(ctx context.Context, a candidate, e layout.RemoteTurn) (layout.RemoteTurnResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { r.untilLapsed(ctx, a.lease, cancel) })
	watch.Go(func() { r.pings.untilSilent(ctx, a.addr, cancel) })
	done, err := r.peers.Handlers(a.addr).Handle(ctx, e)
	cancel(nil)
	watch.Wait()
	return done, err
}

// untilLapsed ends a call once the lease has ended. It returns when ctx ends, too.
func (r *RemoteTurns) untilLapsed(ctx context.Context, l layout.NodeLease, end context.CancelCauseFunc) {
	for {
		changed := r.leases.PartitionsChanged() // taken before the leases are read
		if !r.isCurrent(l) {
			end(errMoved)
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (r *RemoteTurns) isCurrent(l layout.NodeLease) bool {
	return slices.ContainsFunc(r.leases.NodeLeases(), func(now layout.NodeLease) bool { return now.Node == l.Node && now.Life == l.Life })
}
