package membership

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"dormouse/agent/layout"
	"dormouse/internal/seededbug"
)

// checkFollowers asks every other member how far it is. A member that has applied
// the same entries as this node with another checksum has diverged. Each entry
// carries the leader's checksum for the others to compare, so an empty entry stops
// that member even if there are no commits.
func (l *Leader) checkFollowers(ctx context.Context) {
	if l.Peers == nil {
		return
	}
	// The followers' applied index is compared with the one of this node before
	// the requests: Raft's own entries never reach the state machine.
	applied, members := l.Machine.Applied(), l.Machine.Members()
	index, chain := l.Machine.Chain()
	l.Followers.keepOnly(members)
	var asking sync.WaitGroup
	var diverged atomic.Bool
	for _, m := range members {
		if m.ID == l.Self.Node || m.Host { // hosts apply nothing
			continue
		}
		asking.Go(func() {
			status, err := l.status(ctx, m.RaftAddr)
			answered := err == nil && status.ClusterID == l.Self.ClusterID() && status.Incarnation == m.Incarnation
			caughtUp := !status.CatchingUp && status.AppliedIndex > 0 && status.AppliedIndex+layout.LagMax >= applied
			l.Followers.note(m.Incarnation, answered, status, caughtUp)
			if answered && status.AppliedIndex == index && status.Chain != chain {
				l.Logger.Error("the state of another replica differs from this one's: it will stop", "node", m.ID, "index", index)
				diverged.Store(true)
			}
		})
	}
	asking.Wait()
	if diverged.Load() {
		_, _ = l.Proposer.Barrier(ctx) // if it fails, the next check finds the same
	}
}

// reconcile makes at most one change of Raft's configuration.
func (l *Leader) reconcile(ctx context.Context) {
	rows := l.rows()
	if _, known := rows[l.Self.Node]; !known {
		return // the founder writes its own row before it admits others
	}
	for id, server := range l.servers() {
		row, known := rows[id]
		switch {
		case id == l.Self.Node:
		case !known: // an earlier leader did not finish the removal
			if server.Suffrage != raft.Voter || l.quorumWithout(ctx, id) == "" {
				l.finish(ctx, "remove", id, removeServer(id))
				return
			}
		case seededbug.Is(seededbug.UnheardIsRemoved) && server.Suffrage == raft.Voter && !l.answered(row):
			_ = l.commit(ctx, l.Machine.EncodeRemoveMember(row.ID, row.Incarnation))
			return
		case server.Suffrage == raft.Voter && !row.WantVote:
			if l.quorumWithout(ctx, id) == "" {
				l.finish(ctx, "demote", id, demote(id))
				return
			}
		}
	}
	if !l.moveVotes(ctx, rows) {
		l.raiseFeatureLevel(ctx, rows)
	}
}

// answered reports whether a member answered the last request.
func (l *Leader) answered(row layout.Member) bool {
	_, answered := l.Followers.applied(row.Incarnation)
	return answered
}

func (l *Leader) finish(ctx context.Context, what, node string, f changeFunc) {
	if err := l.change(ctx, f); err != nil {
		l.Logger.Warn("a change of membership has not completed yet", "change", what, "node", node, "error", err)
		return
	}
	l.Logger.Info("changed the membership", "change", what, "node", node)
}

// raiseFeatureLevel raises the feature level to what all members support.
func (l *Leader) raiseFeatureLevel(ctx context.Context, rows map[string]layout.Member) {
	level := uint32(0)
	for _, m := range rows {
		if m.Host { // it applies nothing
			continue
		}
		if level == 0 || m.FeatureLevelMax < level {
			level = m.FeatureLevelMax
		}
		if m.FeatureLevelMax == 0 {
			return
		}
	}
	if level <= l.Machine.FeatureLevel() {
		return
	}
	if err := l.commit(ctx, l.Machine.EncodeFeatureLevel(level)); err != nil {
		l.Logger.Warn("the feature level was not raised yet", "to", level, "error", err)
		return
	}
	l.Logger.Info("raised the feature level", "to", level)
}
