package cluster

import (
	"context"

	"dormouse/agent"
	"dormouse/cluster/assign"
	"dormouse/cluster/membership"
)

// RemoteView has the calls that other nodes make on a group. After a commit or a barrier,
// the caller waits until its own node has applied the index, so the group soon announces
// its commit index to all nodes. All methods may be called concurrently.
type RemoteView struct{ g *Group }

// RemoteView returns the calls that other nodes make on g.
func (g *Group) RemoteView() RemoteView { return RemoteView{g} }

// Submit is Group.Submit for a commit of another node.
func (v RemoteView) Submit(ctx context.Context, tenant string, cmd []byte, done func(agent.Decided, error)) {
	v.g.proposer.Submit(ctx, tenant, cmd, true, done)
}

// Barrier is Group.Barrier.
func (v RemoteView) Barrier(ctx context.Context) (uint64, error) { return v.g.Barrier(ctx) }

// BarrierFor is Barrier for reads on another node, which has applied the log up to
// applied. term is that node's VotingTerm after the reads began. If that node and
// this one are a majority of the voters, the term confirms that this node leads, and
// the index need not be applied here.
func (v RemoteView) BarrierFor(ctx context.Context, node string, term, applied uint64) (uint64, error) {
	confirmed := false
	var index uint64
	var err error
	if v.g.o.ReadBarrier != BarrierLog {
		index, confirmed = v.g.index.ConfirmedBy(node, term)
	}
	if !confirmed {
		index, err = v.g.Barrier(ctx)
	}
	if err == nil && index > applied {
		v.g.proposer.Announce(index)
	}
	return index, err
}

// Tick is Group.Tick.
func (v RemoteView) Tick() uint64 { return v.g.Tick() }

// Replayed is Group.Replayed.
func (v RemoteView) Replayed() error { return v.g.Replayed() }

// Term returns this node's VotingTerm, for a leader that asks; "" and 0 if it may
// not vote.
func (v RemoteView) Term() (node string, term uint64) {
	if term = v.VotingTerm(); term == 0 {
		return "", 0
	}
	return v.g.o.NodeID, term
}

// VotingTerm returns this node's current term in Raft, or 0 if it may not vote. It is
// 0 too while another process may have this node's vote: that one may have voted in a
// later term.
func (v RemoteView) VotingTerm() uint64 {
	if !v.g.stores.MayVote() || v.g.stores.Votes.AddressConflict.Load() {
		return 0
	}
	return v.g.raft.CurrentTerm()
}

// LocalStatus is Group.LocalStatus.
func (v RemoteView) LocalStatus() membership.PeerStatus { return v.g.LocalStatus() }

// HandleJoin answers a node that asks to become a member; see membership.Leader.
func (v RemoteView) HandleJoin(ctx context.Context, r membership.JoinRequest) membership.JoinResponse {
	return v.g.leader.HandleJoin(ctx, r)
}

// HandleFounding answers a node that asks to found a cluster; see
// membership.Joiner.
func (v RemoteView) HandleFounding(ctx context.Context, r membership.FoundingRequest) (membership.FoundingResponse, error) {
	return v.g.joiner.HandleFounding(ctx, r)
}

// HandleChange carries out an operator's change; see membership.Leader.
func (v RemoteView) HandleChange(ctx context.Context, kind, node string) membership.ChangeResponse {
	return v.g.leader.HandleChange(ctx, kind, node)
}

// HandleAssign carries out what another process asks for its partitions; see
// assign.Assigner.
func (v RemoteView) HandleAssign(ctx context.Context, r assign.Request) assign.Response {
	return v.g.assigner.Handle(ctx, r)
}

// HandleRule makes an operator's rule for the placement; see assign.Assigner.
func (v RemoteView) HandleRule(ctx context.Context, r assign.Rule) assign.Response {
	return v.g.assigner.HandleRule(ctx, r)
}

// FollowTable sends the table of partitions and its changes; see assign.Assigner.
func (v RemoteView) FollowTable(ctx context.Context, asked <-chan uint64, send func(assign.TableUpdate) error) error {
	return v.g.assigner.FollowTable(ctx, asked, send)
}
