package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
	"dormouse/internal/pause"
)

var (
	// ErrRemoved is what Run returns once this node learns that it was removed.
	ErrRemoved = transport.ErrRemoved
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
	if g.mayFound() {
		if err := g.belongOrFound(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if g.self.ClusterID() == "" && len(g.knownAddrs(ctx)) == 0 {
		g.logger.Warn("this node belongs to no cluster and has knows no other node: start it with --bootstrap, or with an address to --join")
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
			return fmt.Errorf("%w: %s", raftlog.ErrForeign, why)
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
func (g *Group) stay(ctx context.Context, cluster string, admitted raftlog.Admission) error {
	g.stores.Ballot.Astray.Store(false)
	if g.self.ClusterID() == "" {
		if err := g.enrol(admitted); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		if err := g.self.Adopt(cluster); err != nil {
			return fmt.Errorf("join: %w", err)
		}
		g.logger.Info("joined a cluster", "cluster", cluster)
		g.stream.Redial()
	}
	for ctx.Err() == nil {
		if g.wasRemoved() {
			return ErrRemoved
		}
		pause.For(ctx, removedEvery)
		// The log does not tell a node that it was removed if it was not the
		// leader's to replicate to any more, and one without a vote never asks
		// for others'. Its answer is in the handshake, or in the refusal.
		if id, _ := g.Leader(); (id == "" || !g.stores.Admission.Over()) && time.Since(g.LastContact()) > quietMax {
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
	if g.self.SetRemoved() {
		g.logger.Error("this node was removed from the cluster")
	}
}

func (g *Group) wasRemoved() bool {
	if g.machine.Removed(g.self.Incarnation) {
		g.leftBehind()
	}
	return g.self.Removed()
}

// askToJoin asks everybody who may know the leader, once.
func (g *Group) askToJoin(ctx context.Context) JoinResponse {
	self := g.o.Self
	request := JoinRequest{
		Node: g.o.NodeID, Incarnation: g.self.Incarnation, RaftAddr: g.Addr(),
		GRPCAddr: self.GRPCAddr, HTTPAddr: self.HTTPAddr, GossipAddr: self.GossipAddr, WantVote: self.WantVote,
		Version: self.Version, FeatureLevelMax: self.FeatureLevelMax, Empty: g.empty, ClusterID: g.self.ClusterID(), Run: g.self.Process,
		Zone: self.Zone, Weight: self.Weight,
	}
	if g.IsLeader() {
		return g.HandleJoin(ctx, request)
	}
	asked := map[string]bool{g.Addr(): true}
	queue := g.whoMayKnow(ctx)
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
			g.noAnswer(addr, err)
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
	if g.self.ClusterID() == "" {
		return ""
	}
	for _, addr := range g.o.Join {
		if addr == g.Addr() {
			continue
		}
		if status, err := g.askStatus(ctx, addr); err == nil && status.ClusterID == g.self.ClusterID() {
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

// noAnswer logs that the node at addr did not answer. An address that is no Raft
// port never will, so the operator is told, once in refusedLogEvery.
func (g *Group) noAnswer(addr string, err error) {
	if why := notRaftPort(err); why != "" {
		if g.stream.LogDue(addr) {
			g.logger.Warn("an address to join is not the Raft port of a node", "addr", addr, "error", why)
		}
		return
	}
	g.logger.Debug("a node does not answer", "addr", addr, "error", err)
}

// notRaftPort returns err's text if it says that an address is no Raft port, and
// "" otherwise. Errors of peers lose their chain on the way through gRPC.
func notRaftPort(err error) string {
	if text := err.Error(); strings.Contains(text, transport.ErrNotRaftPort.Error()) {
		return text
	}
	return ""
}

// whoMayKnow are the addresses that may know the leader, likeliest first.
func (g *Group) whoMayKnow(ctx context.Context) []string {
	_, leader := g.Leader()
	addrs := append([]string{leader}, g.knownAddrs(ctx)...)
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
