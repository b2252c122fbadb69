package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
)

var (
	// ErrRemoved is what Run returns once this node learns that it was removed.
	ErrRemoved = errors.New("this node was removed from the cluster for good: to join again it needs an empty data directory")
	// ErrRefused is wrapped by what Run returns when the cluster refuses this
	// node; the error says why and what to do.
	ErrRefused = errors.New("the cluster refuses this node")
)

// removedEvery paces the look at whether this node was removed.
const removedEvery = time.Second

// quietMax is how long a node hears from no leader before it asks whether it
// was removed.
const quietMax = 5 * time.Second

// changeMax bounds one change of membership, from asking raft until it is committed.
const changeMax = 10 * time.Second

// belong makes this node part of a cluster and keeps its member row true:
// found one or join one, tell the leader what has changed since the last
// start, then watch for being removed.
func (g *Group) belong(ctx context.Context) error {
	if g.empty && g.o.Bootstrap && g.mayFound() {
		if err := g.found(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if g.id.clusterID() == "" && len(g.o.Join) == 0 {
		g.logger.Warn("this node belongs to no cluster and has nobody to ask: start it with bootstrap, or with an address to join")
	}
	for retry := askRetry; ctx.Err() == nil; retry = min(2*retry, askRetryMax) {
		if g.wasRemoved() {
			return ErrRemoved
		}
		if err := g.findItself(ctx); err != nil {
			return err
		}
		changed := g.LeaderChanged()
		answer := g.askToJoin(ctx)
		if answer.Refused == ErrRemoved.Error() { // it comes over the wire as text
			g.leftBehind()
		}
		if g.wasRemoved() {
			return ErrRemoved
		}
		if answer.Refused != "" {
			return fmt.Errorf("%w: %s", ErrRefused, answer.Refused)
		}
		if why := g.strayed(ctx); why != "" {
			return fmt.Errorf("%w: %s", ErrForeign, why)
		}
		if answer.Accepted {
			return g.stay(ctx, answer.ClusterID, answer.Admission)
		}
		again := time.NewTimer(retry)
		select {
		case <-again.C:
		case <-changed:
			retry = askRetry / 2
		case <-ctx.Done():
		}
		again.Stop()
	}
	return nil
}

// stay takes what the leader accepted, and watches for being removed.
func (g *Group) stay(ctx context.Context, cluster string, admitted Admission) error {
	g.stores.ballot.astray.Store(false)
	if g.id.clusterID() == "" {
		if err := g.enrol(admitted); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		if err := g.id.adopt(cluster); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		g.logger.Info("joined a cluster", "cluster", cluster)
		g.stream.redial()
	}
	for ctx.Err() == nil {
		if g.wasRemoved() {
			return ErrRemoved
		}
		pause.For(ctx, removedEvery)
		// The log does not tell a node that it was removed if it was not the
		// leader's to replicate to any more, and one without a vote never asks
		// for others'. Its answer is in the handshake, or in the refusal.
		if id, _ := g.Leader(); (id == "" || !g.stores.admission.over()) && time.Since(g.LastContact()) > quietMax {
			switch answer := g.askToJoin(ctx); answer.Refused {
			case "":
			case ErrRemoved.Error():
				g.leftBehind()
			default: // it was cut off, and another has its place
				return fmt.Errorf("%w: %s", ErrRefused, answer.Refused)
			}
		}
	}
	return nil
}

// leftBehind notes that another node called this one removed.
func (g *Group) leftBehind() {
	if g.id.setRemoved() {
		g.logger.Error("this node was removed from the cluster")
	}
}

func (g *Group) wasRemoved() bool {
	if g.machine.Removed(g.id.incarnation) {
		g.leftBehind()
	}
	return g.id.isRemoved()
}

// askToJoin asks everybody who may know the leader, once.
func (g *Group) askToJoin(ctx context.Context) JoinResponse {
	self := g.o.Self
	request := JoinRequest{
		Node: g.o.NodeID, Incarnation: g.id.incarnation, RaftAddr: g.Addr(),
		GRPCAddr: self.GRPCAddr, HTTPAddr: self.HTTPAddr, GossipAddr: self.GossipAddr, WantVote: self.WantVote,
		Version: self.Version, FeatureLevelMax: self.FeatureLevelMax, Empty: g.empty, ClusterID: g.id.clusterID(), Run: g.id.run,
		Zone: self.Zone, Weight: self.Weight,
	}
	if g.IsLeader() {
		return g.HandleJoin(ctx, request)
	}
	asked := map[string]bool{g.Addr(): true}
	queue := g.whoMayKnow()
	for len(queue) > 0 && ctx.Err() == nil && g.peers != nil {
		addr := queue[0]
		queue = queue[1:]
		if addr == "" || asked[addr] {
			continue
		}
		asked[addr] = true
		ask, cancel := context.WithTimeout(ctx, changeMax+peerMax)
		answer, err := g.peers.Join(ask, addr, request)
		cancel()
		if err != nil {
			g.logger.Debug("asked to join, without an answer", "addr", addr, "error", err)
			continue
		}
		if answer.Accepted || answer.Refused != "" {
			return answer
		}
		queue = slices.Insert(queue, 0, answer.LeaderAddr)
	}
	return JoinResponse{}
}

// strayed says why this node's data is another cluster's than the one that it
// was told to join: every join address belongs to that one. A lone node leads
// its own cluster and has asked nobody yet.
func (g *Group) strayed(ctx context.Context) string {
	if g.id.clusterID() == "" {
		return ""
	}
	for _, addr := range g.o.Join {
		if addr == g.Addr() {
			continue
		}
		if status, err := g.askStatus(ctx, addr); err == nil && status.ClusterID == g.id.clusterID() {
			return ""
		}
		if !g.foreign.has(addr) {
			return ""
		}
	}
	return g.foreign.all(g.o.Join, g.Addr())
}

// foreign is which addresses turned out to belong to another cluster, and how.
type foreign struct {
	mu    sync.Mutex
	addrs map[string]string // guarded by mu
}

func (f *foreign) note(addr, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.addrs == nil {
		f.addrs = make(map[string]string)
	}
	f.addrs[addr] = why
}

func (f *foreign) has(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.addrs[addr] != ""
}

// all says why, where every one of addrs but self belongs to another cluster.
func (f *foreign) all(addrs []string, self string) (why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, addr := range addrs {
		if addr == self {
			continue
		}
		known := f.addrs[addr]
		if known == "" {
			return ""
		}
		why = known
	}
	return why
}

// whoMayKnow are the addresses that may know the leader, likeliest first.
func (g *Group) whoMayKnow() []string {
	_, leader := g.Leader()
	addrs := append([]string{leader}, g.o.Join...)
	for _, m := range g.machine.Members() {
		addrs = append(addrs, m.RaftAddr)
	}
	// After a restart the log is there before the rows are: those wait for a
	// leader to say how far it is committed, which a removed node never hears.
	for _, s := range g.servers() {
		addrs = append(addrs, string(s.Address))
	}
	return addrs
}

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
	mine := g.id.clusterID()
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
	if !known || row != old {
		if err := g.commit(ctx, g.machine.EncodePutMember(row)); err != nil {
			return JoinResponse{}, fmt.Errorf("write the member row: %w", err)
		}
	}
	if err := g.place(ctx, r.Node, r.RaftAddr); err != nil {
		return JoinResponse{}, err
	}
	var admitted Admission
	if r.ClusterID == "" {
		if admitted, err = g.admission(ctx); err != nil {
			return JoinResponse{}, err
		}
	}
	answer := JoinResponse{Admission: admitted, Accepted: true, ClusterID: g.id.clusterID(), Leader: g.o.NodeID, LeaderAddr: g.Addr()}
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
	g.stream.refused.note(addr, false, time.Now()) // it will have this node within a moment
	server, known := g.servers()[node]
	if known && string(server.Address) == addr {
		return nil
	}
	if err := g.change(ctx, learner(node, addr)); err != nil {
		return fmt.Errorf("replicate to node %s: %w", node, err)
	}
	return nil
}
