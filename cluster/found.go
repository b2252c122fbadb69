package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"

	"dormouse/internal/pause"
)

// askRetry paces rounds of questions to other nodes; it doubles up to askRetryMax.
const (
	askRetry    = 100 * time.Millisecond
	askRetryMax = 5 * time.Second
)

// found founds a cluster with this node as its only voter, once every join
// address has answered that it knows none. Where one of them does know one,
// this node founds none and asks to join that.
func (g *Group) found(ctx context.Context) error {
	if !g.nobodyElse(ctx) {
		return nil
	}
	cluster := g.id.clusterID()
	if cluster == "" {
		cluster = uuid.NewString()
	}
	// The mark tells a crash in the middle, which raft would take for a
	// cluster whose log was lost, from exactly that. See finishFounding.
	if err := g.stores.stable.Set(keyFounding, []byte(cluster)); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := g.id.adopt(cluster); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := wait(ctx, g.raft.BootstrapCluster(alone(g.o.NodeID, g.Addr()))); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := g.stores.stable.Set(keyFounding, nil); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	g.logger.Info("founded a cluster", "cluster", cluster)
	return nil
}

// nobodyElse waits until every join address has answered that it knows no
// cluster. It is false where one of them does know one, and where ctx ended.
func (g *Group) nobodyElse(ctx context.Context) bool {
	for retry := askRetry; ctx.Err() == nil; retry = min(2*retry, askRetryMax) {
		known, open := g.anyCluster(ctx)
		switch {
		case known != "":
			g.logger.Warn("not founding a cluster: another node belongs to one; joining it", "cluster", known)
			return false
		case open == "":
			return true
		}
		g.logger.Info("not founding a cluster until every join address has answered", "waiting-for", open)
		pause.For(ctx, retry)
	}
	return false
}

// mayFound tells whether this node belongs to no cluster, or began to found the
// one that it belongs to and did not get far.
func (g *Group) mayFound() bool {
	mark, err := stableGet(g.stores.stable, keyFounding)
	return err == nil && (g.id.clusterID() == "" || mark != "")
}

// anyCluster asks every join address: known is a cluster that one of them
// belongs to, open an address that has not answered.
func (g *Group) anyCluster(ctx context.Context) (known, open string) {
	for _, addr := range g.o.Join {
		if addr == g.Addr() {
			continue
		}
		status, err := g.askStatus(ctx, addr)
		switch {
		case err != nil:
			g.logger.Debug("a join address does not answer", "addr", addr, "error", err)
			open = addr
		case status.ClusterID != "" && status.ClusterID != g.id.clusterID():
			return status.ClusterID, ""
		}
	}
	return "", open
}

func (g *Group) askStatus(ctx context.Context, addr string) (PeerStatus, error) {
	if g.peers == nil {
		return PeerStatus{}, fmt.Errorf("ask %s: this node has no way to ask others", addr)
	}
	ctx, cancel := context.WithTimeout(ctx, peerMax)
	defer cancel()
	return g.peers.Status(ctx, addr)
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
	mark, err := stableGet(stable, keyFounding)
	if err != nil || mark == "" {
		return err
	}
	last, err := logs.LastIndex()
	if err != nil {
		return fmt.Errorf("look for a founding that was cut short: %w", err)
	}
	term, err := stable.GetUint64([]byte(keyCurrentTerm))
	if err != nil && !absent(err) {
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
