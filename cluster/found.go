package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
	"dormouse/internal/pause"
)

// A node founds a cluster only after all the nodes that it needs have let it:
// with Bootstrap every address of Join and every address that it has heard of,
// with Expect as many nodes as are expected. Each of them grants one founding at
// a time, and none grants any once it belongs to a cluster (grant.go). So a node
// whose data was lost never founds beside the cluster that it belonged to, and of
// several nodes that may found exactly one does. ADR 24 has the reasons.

// keyFounding holds the id of a cluster whose founding has begun.
var keyFounding = []byte("dormouse/founding")

// askRetry paces rounds of questions to other nodes; it doubles up to askRetryMax.
const (
	askRetry    = 100 * time.Millisecond
	askRetryMax = 5 * time.Second
)

// foundQuiet is how long a node that knows no other address listens before it
// founds a cluster. The members of a cluster that it belonged to dial it every
// transport.RaftDialInterval.
const foundQuiet = 3 * time.Second

// foundTurn is how long a node leaves it to one that comes first by name. It
// goes ahead then: the other may not reach all nodes that it needs.
const foundTurn = 30 * time.Second

// belongOrFound founds a cluster if this node is to and may. It returns nil
// without one once this node has learnt of a cluster to join, or if ctx ends.
func (g *Group) belongOrFound(ctx context.Context) error {
	began := time.Now()
	for retry := askRetry; ctx.Err() == nil; retry = min(2*retry, askRetryMax) {
		r := g.askAround(ctx)
		switch {
		case r.cluster != "":
			g.logger.Warn("not founding a cluster: another node belongs to one; joining it", "cluster", r.cluster, "node", r.member)
			return nil
		case g.o.Alone || time.Since(began) >= foundQuiet || len(r.nodes) > 0:
			founded, why, err := g.tryToFound(ctx, r, time.Since(began) < foundTurn)
			if founded || err != nil {
				return err
			}
			g.logger.Info("not founding a cluster yet", "because", why)
		case retry == askRetry:
			g.logger.Info("listening for the nodes of an existing cluster before founding one", "for", foundQuiet)
		}
		if len(r.nodes) == 0 {
			retry = min(retry, foundQuiet/8)
		}
		pause.For(ctx, retry)
	}
	return nil
}

// tryToFound founds a cluster if all nodes that must let this one do. Otherwise
// why says what is missing. With inTurn it leaves it to a node that comes first
// by name.
func (g *Group) tryToFound(ctx context.Context, r around, inTurn bool) (founded bool, why string, err error) {
	if why := r.missing(g.o); why != "" {
		return false, why, nil
	}
	for _, n := range r.nodes {
		if inTurn && n.MayFound && n.Node < g.o.NodeID {
			return false, fmt.Sprintf("node %s comes first by name and may found it", n.Node), nil
		}
	}
	attempt := FoundingRequest{Node: g.o.NodeID, Incarnation: g.self.Incarnation, RaftAddr: g.Addr(), Founding: uuid.NewString()}
	g.grants.begin(attempt.Founding)
	defer g.grants.end(attempt.Founding)
	if answer, err := g.HandleFounding(ctx, attempt); err != nil || !answer.Granted {
		return false, fmt.Sprintf("this node lets node %s found one", answer.Holder), err
	}
	for addr, n := range r.nodes {
		answer, err := g.askGrant(ctx, addr, attempt)
		switch {
		case err != nil:
			return false, fmt.Sprintf("node %s at %s does not answer: %v", n.Node, addr, err), nil
		case answer.ClusterID != "":
			return false, fmt.Sprintf("node %s belongs to cluster %s", n.Node, answer.ClusterID), nil
		case !answer.Granted:
			return false, fmt.Sprintf("node %s lets node %s found one", n.Node, answer.Holder), nil
		}
	}
	return true, "", g.found(ctx)
}

func (g *Group) askGrant(ctx context.Context, addr string, r FoundingRequest) (FoundingResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, peerMax)
	defer cancel()
	return g.peers.GrantFounding(ctx, addr, r)
}

// found founds a cluster with this node as its only voter.
func (g *Group) found(ctx context.Context) error {
	cluster := g.self.ClusterID()
	if cluster == "" {
		cluster = uuid.NewString()
	}
	// The mark tells a crash in the middle, which raft would take for a
	// cluster whose log was lost, from exactly that. See finishFounding.
	if err := g.stores.Stable.Set(keyFounding, []byte(cluster)); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := g.self.Adopt(cluster); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := wait(ctx, g.raft.BootstrapCluster(alone(g.o.NodeID, g.Addr()))); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := g.stores.Stable.Set(keyFounding, nil); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	g.logger.Info("founded a cluster", "cluster", cluster)
	return nil
}

// mayFound reports whether this node is to found a cluster and belongs to none,
// or began to found the one that it belongs to and did not get far.
func (g *Group) mayFound() bool {
	if !g.empty || !g.o.Bootstrap && g.o.Expect == 0 {
		return false
	}
	mark, err := raftlog.GetString(g.stores.Stable, keyFounding)
	return err == nil && (g.self.ClusterID() == "" || mark != "")
}

// alone is the configuration of a cluster that was just founded.
func alone(node, addr string) raft.Configuration {
	return raft.Configuration{Servers: []raft.Server{{
		Suffrage: raft.Voter, ID: raft.ServerID(node), Address: raft.ServerAddress(addr),
	}}}
}

// finishFounding completes a founding that a crash cut short between the term
// and the first entry: raft writes the term first, and would refuse to found
// over it.
func finishFounding(logs raft.LogStore, stable raft.StableStore, node, addr string) error {
	mark, err := raftlog.GetString(stable, keyFounding)
	if err != nil || mark == "" {
		return err
	}
	last, err := logs.LastIndex()
	if err != nil {
		return fmt.Errorf("look for a founding that was cut short: %w", err)
	}
	term, err := stable.GetUint64([]byte(raftlog.KeyCurrentTerm))
	if err != nil && !raftlog.Absent(err) {
		return fmt.Errorf("look for a founding that was cut short: %w", err)
	}
	if last == 0 && term == 0 {
		return nil // nothing happened yet: found again
	}
	if last == 0 {
		first := raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(alone(node, addr))}
		if err := logs.StoreLog(&first); err != nil {
			return fmt.Errorf("finish founding: %w", err)
		}
	}
	return stable.Set(keyFounding, nil)
}
