package membership

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/agent/layout"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// HandleJoin answers a node that asks to become a member, or whose row has
// changed. Repeated requests have no further effect.
func (l *Leader) HandleJoin(ctx context.Context, r JoinRequest) JoinResponse {
	if why := l.unwelcome(r); why != "" {
		return JoinResponse{Refused: why}
	}
	addr, id := l.Raft.LeaderWithID()
	ctx, cancel := context.WithTimeout(ctx, changeMax)
	defer cancel()
	if l.Term.Load() == nil || !l.begin(ctx) {
		return JoinResponse{Leader: string(id), LeaderAddr: string(addr)}
	}
	defer l.end()
	answer, err := l.admit(ctx, r)
	if err != nil {
		l.Logger.Warn("could not admit a node yet", "node", r.Node, "error", err)
		return JoinResponse{}
	}
	return answer
}

// unwelcome returns why r is refused for good, as far as any node knows, or "".
func (l *Leader) unwelcome(r JoinRequest) string {
	mine := l.Self.ClusterID()
	switch {
	case r.Node == "" || r.Incarnation == "" || r.RaftAddr == "":
		return "a node needs an id, an incarnation and an address"
	case r.ClusterID != "" && mine != "" && r.ClusterID != mine:
		return fmt.Sprintf("node %s belongs to cluster %s, this is cluster %s: check its join addresses, or empty its data directory", r.Node, r.ClusterID, mine)
	case l.Machine.Removed(r.Incarnation):
		return transport.ErrRemoved.Error()
	}
	return ""
}

// admit makes r's node a member: first its row, then a server of Raft without a
// vote. Duties gives it a vote once it has caught up.
func (l *Leader) admit(ctx context.Context, r JoinRequest) (JoinResponse, error) {
	if why := l.unwelcome(r); why != "" { // again, after all earlier changes
		return JoinResponse{Refused: why}, nil
	}
	if _, known := l.member(l.Self.Node); !known && r.Node != l.Self.Node {
		return JoinResponse{}, nil // the leader's own row comes first; see reconcile
	}
	switch other := l.memberAt(r.RaftAddr); {
	case other.ID == "" || other.ID == r.Node:
	case other.Host: // it may have died, and is a member only until its lease lapses: the node asks again
		return JoinResponse{}, fmt.Errorf("address %s is that of host %s: it is free once the host stops, or once its lease lapses", r.RaftAddr, other.ID)
	default:
		return JoinResponse{Refused: fmt.Sprintf("address %s is that of node %s: make it leave first, or give %s another address", r.RaftAddr, other.ID, r.Node)}, nil
	}
	old, known := l.member(r.Node)
	var why string
	var err error
	if known && old.Incarnation != r.Incarnation {
		why, err = l.replace(ctx, old, r)
	} else {
		why, err = l.relocate(ctx, r)
	}
	if why != "" || err != nil {
		return JoinResponse{Refused: why}, err
	}
	if r.FeatureLevelMax < l.Machine.FeatureLevel() {
		return JoinResponse{Refused: fmt.Sprintf("node %s can do feature level %d, the cluster uses %d: install a newer version there", r.Node, r.FeatureLevelMax, l.Machine.FeatureLevel())}, nil
	}
	if r.Empty && (!known || old.Incarnation != r.Incarnation) {
		l.RefreshSnapshot(ctx) // before the row, after which Raft connects to the node
	}
	if err := l.writeRow(ctx, r, old, known); err != nil {
		return JoinResponse{}, err
	}
	if err := l.replicateTo(ctx, r.Node, r.RaftAddr); err != nil {
		return JoinResponse{}, err
	}
	return l.accepted(ctx, r)
}

// writeRow writes the member row of r's node if it differs from old.
func (l *Leader) writeRow(ctx context.Context, r JoinRequest, old layout.Member, known bool) error {
	row := layout.Member{
		ID: r.Node, Incarnation: r.Incarnation, RaftAddr: r.RaftAddr, GRPCAddr: r.GRPCAddr, HTTPAddr: r.HTTPAddr,
		GossipAddr: r.GossipAddr, WantVote: r.WantVote, Version: r.Version, FeatureLevelMax: r.FeatureLevelMax,
		Zone: r.Zone, Weight: r.Weight,
	}
	switch {
	case known:
		row.WantVote = old.WantVote // an operator's decision about a name stays, also if its data was lost
	case l.isVoter(r.Node):
		row.WantVote = true // the founder
	}
	if known && row == old {
		return nil
	}
	if err := l.commit(ctx, l.Machine.EncodePutMember(row)); err != nil {
		return fmt.Errorf("write the member row: %w", err)
	}
	if r.Node == l.Self.Node { // a new cluster does not wait for the next round of duties
		l.raiseFeatureLevel(ctx, l.rows())
	}
	return nil
}

// accepted returns the answer to a node that is a member now.
func (l *Leader) accepted(ctx context.Context, r JoinRequest) (JoinResponse, error) {
	answer := JoinResponse{Accepted: true, ClusterID: l.Self.ClusterID(), Leader: l.Self.Node, LeaderAddr: l.Stream.Addr()}
	if r.ClusterID == "" {
		var err error
		if answer.Admission, err = l.admission(ctx); err != nil {
			return JoinResponse{}, err
		}
	}
	for _, m := range l.Machine.Members() {
		if m.GossipAddr != "" && m.ID != r.Node {
			answer.GossipAddrs = append(answer.GossipAddrs, m.GossipAddr)
		}
	}
	return answer, nil
}

// admission writes the entry from which a node that is admitted now may vote; see
// admission.go.
func (l *Leader) admission(ctx context.Context) (raftlog.Admission, error) {
	index, err := l.Proposer.Barrier(ctx)
	if err != nil {
		return raftlog.Admission{}, err
	}
	var entry raft.Log
	if err := l.Stores.Logs.GetLog(index, &entry); err != nil {
		return raftlog.Admission{}, fmt.Errorf("read the entry of an admission: %w", err)
	}
	return raftlog.Admission{Index: index, Term: entry.Term}, nil
}

// replace removes the earlier incarnation of a node that comes back with an empty
// directory. The earlier one loses its vote before the new one can take part: a
// node that has forgotten its votes could vote twice in a term.
func (l *Leader) replace(ctx context.Context, old layout.Member, r JoinRequest) (refused string, err error) {
	if old.Host { // as for its address, see admit
		return "", fmt.Errorf("node id %s is that of a host: it is free once the host stops, or once its lease lapses; or choose another", r.Node)
	}
	if !r.Empty {
		return fmt.Sprintf("the cluster knows node %s by another data directory than the one it has now: give it that one back, or empty it", r.Node), nil
	}
	if old.ID == l.Self.Node {
		return fmt.Sprintf("node id %s is the leader's: choose another", r.Node), nil
	}
	if status, err := l.status(ctx, old.RaftAddr); err == nil && status.Incarnation == old.Incarnation {
		return fmt.Sprintf("node id %s is in use by a live node at %s: choose another", r.Node, old.RaftAddr), nil
	}
	if l.isVoter(r.Node) {
		if why := l.quorumWithout(ctx, r.Node); why != "" {
			return "", errors.New(why)
		}
		if err := l.change(ctx, demote(r.Node)); err != nil {
			return "", fmt.Errorf("take the vote of the node's earlier incarnation: %w", err)
		}
	}
	if err := l.commit(ctx, l.Machine.EncodeRemoveMember(old.ID, old.Incarnation)); err != nil {
		return "", fmt.Errorf("remove the node's earlier incarnation: %w", err)
	}
	return "", nil
}

// replicateTo makes Raft replicate to the node at addr. A new node gets no vote; a
// known one keeps its vote, and only its address changes (see relocate for when it
// loses its vote first). Raft 1.7.3 reads the old address without a lock while it
// does, only for its log.
func (l *Leader) replicateTo(ctx context.Context, node, addr string) error {
	l.Stream.Retry(addr) // the node there accepts connections of this cluster in a moment
	server, known := l.servers()[node]
	if known && string(server.Address) == addr {
		return nil
	}
	if err := l.change(ctx, addNonvoter(node, addr)); err != nil {
		return fmt.Errorf("replicate to node %s: %w", node, err)
	}
	return nil
}
