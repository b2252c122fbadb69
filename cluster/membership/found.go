package membership

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
	"dormouse/internal/pause"
	"dormouse/internal/retry"
)

// A node founds a cluster only after all the nodes that it needs have granted it:
// with Bootstrap every address of Join and every address that it has learned, with
// Expect as many nodes as are expected. Each of them grants one founding at a
// time, and none once it belongs to a cluster (grant.go). So a node whose data was
// lost never founds a second cluster beside its old one, and of several nodes that
// may found a cluster exactly one does. ADR 24 has the reasons.

// keyFounding holds the id of a cluster whose founding has begun.
var keyFounding = []byte("dormouse/founding")

// askRetry and askRetryMax are the first and the longest pause between rounds of
// requests to other nodes.
const (
	askRetry    = 100 * time.Millisecond
	askRetryMax = 5 * time.Second
)

// foundQuiet is how long a node that knows no other address listens before it
// founds a cluster. The members of a cluster that it belonged to dial it every
// transport.RaftDialInterval.
const foundQuiet = 3 * time.Second

// foundYield is how long a node yields to a node whose name comes first. Then it
// goes ahead: the other one may not reach all nodes that it needs.
const foundYield = 30 * time.Second

// joinOrFound founds a cluster if this node may. It returns nil without one once
// this node has learned of a cluster to join, or if ctx ends.
func (j *Joiner) joinOrFound(ctx context.Context) error {
	began := time.Now()
	attempts := retry.New(askRetry, askRetryMax)
	for first := true; ctx.Err() == nil; first = false {
		s := j.survey(ctx)
		switch {
		case s.cluster != "":
			j.Logger.Warn("not founding a cluster: another node belongs to one; joining it", "cluster", s.cluster, "node", s.member)
			return nil
		case j.Alone || time.Since(began) >= foundQuiet || len(s.nodes) > 0:
			founded, why, err := j.tryToFound(ctx, s, time.Since(began) < foundYield)
			if founded || err != nil {
				return err
			}
			j.Logger.Info("not founding a cluster yet", "because", why)
		case first:
			j.Logger.Info("listening for the nodes of an existing cluster before founding one", "for", foundQuiet)
		}
		wait := attempts.Next()
		if len(s.nodes) == 0 {
			wait = min(wait, foundQuiet/8)
		}
		pause.For(ctx, wait)
	}
	return nil
}

// tryToFound founds a cluster if all nodes that it needs grant it. Otherwise why
// says what is missing. With yield it leaves the founding to a node whose name
// comes first.
func (j *Joiner) tryToFound(ctx context.Context, s survey, yield bool) (founded bool, why string, err error) {
	if why := s.missing(j.Self.Node, j.Expect); why != "" {
		return false, why, nil
	}
	for _, n := range s.nodes {
		if yield && n.MayFound && n.Node < j.Self.Node {
			return false, fmt.Sprintf("node %s comes first by name and may found it", n.Node), nil
		}
	}
	attempt := FoundingRequest{Node: j.Self.Node, Incarnation: j.Self.Incarnation, RaftAddr: j.Stream.Addr(), Founding: uuid.NewString()}
	j.grants.begin(attempt.Founding)
	defer j.grants.end(attempt.Founding)
	if answer, err := j.HandleFounding(ctx, attempt); err != nil || !answer.Granted {
		return false, fmt.Sprintf("this node lets node %s found one", answer.Holder), err
	}
	for addr, n := range s.nodes {
		answer, err := j.askGrant(ctx, addr, attempt)
		switch {
		case err != nil:
			return false, fmt.Sprintf("node %s at %s does not answer: %v", n.Node, addr, err), nil
		case answer.ClusterID != "":
			return false, fmt.Sprintf("node %s belongs to cluster %s", n.Node, answer.ClusterID), nil
		case !answer.Granted:
			return false, fmt.Sprintf("node %s lets node %s found one", n.Node, answer.Holder), nil
		}
	}
	return true, "", j.found(ctx)
}

func (j *Joiner) askGrant(ctx context.Context, addr string, r FoundingRequest) (FoundingResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, transport.RequestTimeout)
	defer cancel()
	return j.Peers.GrantFounding(ctx, addr, r)
}

// found founds a cluster with this node as its only voter. It goes on with a founding
// that a crash interrupted: the state may have been marked as that cluster's.
func (j *Joiner) found(ctx context.Context) error {
	begun, err := raftlog.GetString(j.Stores.Stable, keyFounding)
	if err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	cluster := cmp.Or(j.Self.ClusterID(), begun, uuid.NewString())
	// Without the mark, a crash in the middle would look like a cluster whose log
	// was lost. See FinishFounding.
	if err := j.Stores.Stable.Set(keyFounding, []byte(cluster)); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := j.Self.Adopt(cluster); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := raftlog.Wait(ctx, j.Raft.BootstrapCluster(OneVoter(j.Self.Node, j.Stream.Addr()))); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	if err := j.Stores.Stable.Set(keyFounding, nil); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	j.Logger.Info("founded a cluster", "cluster", cluster)
	j.Founded()
	return nil
}

// MayFound reports whether this node is configured to found a cluster and belongs
// to none, or has begun to found its cluster and has not finished.
func (j *Joiner) MayFound() bool {
	if !j.Empty || !j.Bootstrap && j.Expect == 0 {
		return false
	}
	mark, err := raftlog.GetString(j.Stores.Stable, keyFounding)
	return err == nil && (j.Self.ClusterID() == "" || mark != "")
}

// OneVoter returns the configuration of a new cluster with one node.
func OneVoter(node, addr string) raft.Configuration {
	return raft.Configuration{Servers: []raft.Server{{
		Suffrage: raft.Voter, ID: raft.ServerID(node), Address: raft.ServerAddress(addr),
	}}}
}

// FinishFounding completes a founding that a crash interrupted between the term
// and the first entry: Raft writes the term first, and would then refuse to
// bootstrap. Call it before Raft is started.
func FinishFounding(logs raft.LogStore, stable raft.StableStore, node, addr string) error {
	mark, err := raftlog.GetString(stable, keyFounding)
	if err != nil || mark == "" {
		return err
	}
	last, err := logs.LastIndex()
	if err != nil {
		return fmt.Errorf("look for an interrupted founding: %w", err)
	}
	term, err := stable.GetUint64([]byte(raftlog.KeyCurrentTerm))
	if err != nil && !raftlog.Absent(err) {
		return fmt.Errorf("look for an interrupted founding: %w", err)
	}
	if last == 0 && term == 0 {
		return nil // Raft has written nothing: the node founds again
	}
	if last == 0 {
		first := raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(OneVoter(node, addr))}
		if err := logs.StoreLog(&first); err != nil {
			return fmt.Errorf("finish founding: %w", err)
		}
	}
	return stable.Set(keyFounding, nil)
}
