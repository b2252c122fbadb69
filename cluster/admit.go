package cluster

import (
	"context"
	"errors"
	"fmt"

	"dormouse/agent"
	"dormouse/cluster/raftlog"
)

// HandleJoin answers a node that asks to be a member, or tells that its facts
// have changed. Asking again is harmless.
func (g *Group) HandleJoin(ctx context.Context, r JoinRequest) JoinResponse {
	if why := g.unwelcome(r); why != "" {
		return JoinResponse{Refused: why}
	}
	id, addr := g.Leader()
	elsewhere := JoinResponse{Leader: id, LeaderAddr: addr}
	ctx, cancel := context.WithTimeout(ctx, changeMax)
	defer cancel()
	if g.ready.Load() == nil || !g.beginChange(ctx) {
		return elsewhere
	}
	defer g.endChange()
	answer, err := g.admit(ctx, r)
	if err != nil {
		g.logger.Warn("could not admit a node yet", "node", r.Node, "error", err)
		return JoinResponse{}
	}
	return answer
}

// beginChange waits until no other change of membership is under way.
func (g *Group) beginChange(ctx context.Context) bool {
	select {
	case g.changes <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (g *Group) endChange() { <-g.changes }

// unwelcome says why r is refused for good, by what any node knows.
func (g *Group) unwelcome(r JoinRequest) string {
	mine := g.self.ClusterID()
	switch {
	case r.Node == "" || r.Incarnation == "" || r.RaftAddr == "":
		return "a node needs an id, an incarnation and an address"
	case r.ClusterID != "" && mine != "" && r.ClusterID != mine:
		return fmt.Sprintf("node %s belongs to cluster %s, this is cluster %s: check its join addresses, or empty its data directory", r.Node, r.ClusterID, mine)
	case g.machine.Removed(r.Incarnation):
		return ErrRemoved.Error()
	}
	return ""
}

// admit makes r's node a member: first its row, then its place in raft, where
// it has no vote. The leader's duties give it one once it has caught up.
func (g *Group) admit(ctx context.Context, r JoinRequest) (JoinResponse, error) {
	if why := g.unwelcome(r); why != "" { // again, with all that the log says
		return JoinResponse{Refused: why}, nil
	}
	if _, known := g.member(g.o.NodeID); !known && r.Node != g.o.NodeID {
		return JoinResponse{}, nil // the leader comes first; see reconcile
	}
	if owner := g.ownerOf(r.RaftAddr); owner != "" && owner != r.Node {
		return JoinResponse{Refused: fmt.Sprintf("address %s is that of node %s: make it leave first, or give %s another address", r.RaftAddr, owner, r.Node)}, nil
	}
	row := agent.Member{
		ID: r.Node, Incarnation: r.Incarnation, RaftAddr: r.RaftAddr, GRPCAddr: r.GRPCAddr, HTTPAddr: r.HTTPAddr,
		GossipAddr: r.GossipAddr, WantVote: r.WantVote, Version: r.Version, FeatureLevelMax: r.FeatureLevelMax,
		Zone: r.Zone, Weight: r.Weight,
	}
	old, known := g.member(r.Node)
	var why string
	var err error
	if known && old.Incarnation != r.Incarnation {
		why, err = g.bury(ctx, old, r)
	} else {
		why, err = g.relocate(ctx, r)
	}
	if why != "" || err != nil {
		return JoinResponse{Refused: why}, err
	}
	switch {
	case known && old.Incarnation == r.Incarnation:
		row.WantVote = old.WantVote // an operator's decision stands
	case g.isVoter(r.Node):
		row.WantVote = true // the founder
	}
	if row.FeatureLevelMax < g.machine.FeatureLevel() {
		return JoinResponse{Refused: fmt.Sprintf("node %s can do feature level %d, the cluster uses %d: install a newer version there", r.Node, row.FeatureLevelMax, g.machine.FeatureLevel())}, nil
	}
	if r.Empty && (!known || old.Incarnation != r.Incarnation) {
		g.refreshSnapshot(ctx) // before its row is there, and with it a connection for raft
	}
	if !known || row != old {
		if err := g.commit(ctx, g.machine.EncodePutMember(row)); err != nil {
			return JoinResponse{}, fmt.Errorf("write the member row: %w", err)
		}
		if r.Node == g.o.NodeID { // a new cluster does not wait for the leader's next look at its members
			g.raiseFeatureLevel(ctx, g.memberRows())
		}
	}
	if err := g.place(ctx, r.Node, r.RaftAddr); err != nil {
		return JoinResponse{}, err
	}
	var admitted raftlog.Admission
	if r.ClusterID == "" {
		if admitted, err = g.admission(ctx); err != nil {
			return JoinResponse{}, err
		}
	}
	answer := JoinResponse{Admission: admitted, Accepted: true, ClusterID: g.self.ClusterID(), Leader: g.o.NodeID, LeaderAddr: g.Addr()}
	for _, m := range g.machine.Members() {
		if m.GossipAddr != "" && m.ID != r.Node {
			answer.GossipAddrs = append(answer.GossipAddrs, m.GossipAddr)
		}
	}
	return answer, nil
}

// bury ends the old life of a node that comes back with another: it loses its
// vote before the new one can take part, since a node that has forgotten how
// it voted could vote twice.
func (g *Group) bury(ctx context.Context, old agent.Member, r JoinRequest) (refused string, err error) {
	if old.Host {
		return fmt.Sprintf("node id %s is that of a host: choose another, or stop the host", r.Node), nil
	}
	if !r.Empty {
		return fmt.Sprintf("the cluster knows node %s by another data directory than the one it has now: give it that one back, or empty it", r.Node), nil
	}
	if old.ID == g.o.NodeID {
		return fmt.Sprintf("node id %s is the leader's: choose another", r.Node), nil
	}
	if status, err := g.askStatus(ctx, old.RaftAddr); err == nil && status.Incarnation == old.Incarnation {
		return fmt.Sprintf("node id %s is in use by a live node at %s: choose another", r.Node, old.RaftAddr), nil
	}
	if g.isVoter(r.Node) {
		if why := g.quorumWithout(ctx, r.Node); why != "" {
			return "", errors.New(why)
		}
		if err := g.change(ctx, demote(r.Node)); err != nil {
			return "", fmt.Errorf("take the vote of the node's earlier life: %w", err)
		}
	}
	if err := g.commit(ctx, g.machine.EncodeRemoveMember(old.ID, old.Incarnation)); err != nil {
		return "", fmt.Errorf("forget the node's earlier life: %w", err)
	}
	return "", nil
}

// place makes raft replicate to the node at addr, without a vote where it is
// new, and without touching the one it has. A new address is set in place; for
// when that takes the vote first, see relocate.
// (raft 1.7.3 reads the old one without a lock while it does; only to log it.)
func (g *Group) place(ctx context.Context, node, addr string) error {
	g.stream.Retry(addr) // the node there accepts this one in a moment
	server, known := g.servers()[node]
	if known && string(server.Address) == addr {
		return nil
	}
	if err := g.change(ctx, learner(node, addr)); err != nil {
		return fmt.Errorf("replicate to node %s: %w", node, err)
	}
	return nil
}
