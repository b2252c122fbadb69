package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/internal/seededbug"
)

const (
	// dutyEvery paces the leader's look at its members.
	dutyEvery = 500 * time.Millisecond
	// lagMax is how many entries behind the leader a node counts as caught up.
	lagMax = 64
	// steadyMin is how many looks in a row must find a node caught up before
	// it gets a vote.
	steadyMin = 3
)

// followed is what the leader has learnt of the others lately. It knows them by
// their incarnation: what one life of a node has caught up with, the next has not.
type followed struct {
	mu    sync.Mutex
	nodes map[string]following // incarnation → what is known; guarded by mu
}

type following struct {
	applied uint64
	steady  int // looks in a row that found it caught up
}

func newFollowed() *followed { return &followed{nodes: make(map[string]following)} }

// applied is a node's applied index; ok is false where it did not answer lately.
func (f *followed) applied(incarnation string) (index uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.nodes[incarnation]
	return n.applied, ok
}

// slowest is the lowest applied index of those that answered lately.
func (f *followed) slowest() (index uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nodes {
		if !ok || n.applied < index {
			index, ok = n.applied, true
		}
	}
	return index, ok
}

func (f *followed) steady(incarnation string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[incarnation].steady >= steadyMin
}

// note takes a new look at a node; a failed one forgets what was known.
func (f *followed) note(incarnation string, answered bool, applied uint64, caughtUp bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !answered {
		delete(f.nodes, incarnation)
		return
	}
	n := f.nodes[incarnation]
	n.applied = applied
	if n.steady++; !caughtUp {
		n.steady = 0
	}
	f.nodes[incarnation] = n
}

// forget drops all that is not of members.
func (f *followed) forget(members []agent.Member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.nodes, func(incarnation string, _ following) bool {
		return !slices.ContainsFunc(members, func(m agent.Member) bool { return m.Incarnation == incarnation })
	})
}

// duties are what a leader does besides proposing, for as long as it leads:
// hand over when the disk here is nearly full, look how far the others are, and bring raft's configuration to what the
// member rows say, one change at a time.
func (g *Group) duties(ctx context.Context) {
	defer g.followed.forget(nil)
	for ctx.Err() == nil {
		// One that has room may lead; where none has, this one stays.
		if full := g.stores.Writable() != nil; full {
			g.stuck.Store(!g.makeWay(ctx))
		} else {
			g.stuck.Store(false)
		}
		g.look(ctx)
		if g.beginChange(ctx) {
			g.reconcile(ctx)
			g.endChange()
		}
		pause.For(ctx, dutyEvery)
	}
}

// writable is nil, or the error that refuses a proposal. While another node
// may yet take over, the caller is to try again there.
func (g *Group) writable() error {
	err := g.stores.Writable()
	if err != nil && !g.stuck.Load() && len(g.otherVoters(g.o.NodeID)) > 0 {
		return agent.Errorf(agent.CodeUnavailable, "the disk of this node is nearly full: it hands leadership over")
	}
	return err
}

// look asks every other member how far it is. One that has applied as much as
// this node and come to another state has diverged: each entry carries the
// leader's chain for the others to compare, so an empty one ends it though
// nobody writes.
func (g *Group) look(ctx context.Context) {
	if g.peers == nil {
		return
	}
	// What they have applied is compared with what was applied here before
	// they were asked: noop and barrier entries never reach the machine.
	applied, members := g.machine.Applied(), g.machine.Members()
	index, chain := g.machine.Chain()
	g.followed.forget(members)
	var asking sync.WaitGroup
	var odd atomic.Bool
	for _, m := range members {
		if m.ID == g.o.NodeID || m.Host { // hosts apply nothing
			continue
		}
		asking.Go(func() {
			status, err := g.askStatus(ctx, m.RaftAddr)
			answered := err == nil && status.ClusterID == g.self.ClusterID() && status.Incarnation == m.Incarnation
			caughtUp := !status.CatchingUp && status.AppliedIndex > 0 && status.AppliedIndex+lagMax >= applied
			g.followed.note(m.Incarnation, answered, status.AppliedIndex, caughtUp)
			if answered && status.AppliedIndex == index && status.Chain != chain {
				g.logger.Error("a replica has diverged from this one, and is told so", "node", m.ID, "index", index)
				odd.Store(true)
			}
		})
	}
	asking.Wait()
	if odd.Load() {
		_, _ = g.entryBarrier(ctx) // where it fails, the next look finds the same
	}
}

// memberRows returns the members' rows by name.
func (g *Group) memberRows() map[string]agent.Member {
	rows := make(map[string]agent.Member)
	for _, m := range g.machine.Members() {
		rows[m.ID] = m
	}
	return rows
}

// reconcile makes at most one change.
func (g *Group) reconcile(ctx context.Context) {
	rows := g.memberRows()
	if _, known := rows[g.o.NodeID]; !known {
		return // the founder's own row is still to come; until then nobody else has one
	}
	for id, server := range g.servers() {
		row, known := rows[id]
		switch {
		case id == g.o.NodeID:
		case !known: // removed, by a leader that did not live to finish
			g.finish(ctx, "remove", id, remove(id))
			return
		case seededbug.Is(seededbug.UnheardIsRemoved) && server.Suffrage == raft.Voter && g.unheard(row):
			_ = g.commit(ctx, g.machine.EncodeRemoveMember(row.ID, row.Incarnation))
			return
		case server.Suffrage == raft.Voter && !row.WantVote:
			if g.quorumWithout(ctx, id) == "" {
				g.finish(ctx, "demote", id, demote(id))
				return
			}
		case server.Suffrage != raft.Voter && row.WantVote && g.followed.steady(row.Incarnation):
			g.finish(ctx, "promote", id, voter(id, row.RaftAddr))
			return
		}
	}
	g.raiseFeatureLevel(ctx, rows)
}

func (g *Group) finish(ctx context.Context, what, node string, f changeFunc) {
	if err := g.change(ctx, f); err != nil {
		g.logger.Warn("a change of membership did not come through yet", "change", what, "node", node, "error", err)
		return
	}
	g.logger.Info("changed the membership", "change", what, "node", node)
}

// raiseFeatureLevel raises it to what all members can do.
func (g *Group) raiseFeatureLevel(ctx context.Context, rows map[string]agent.Member) {
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
	if level <= g.machine.FeatureLevel() {
		return
	}
	if err := g.commit(ctx, g.machine.EncodeFeatureLevel(level)); err != nil {
		g.logger.Warn("the feature level was not raised yet", "to", level, "error", err)
		return
	}
	g.logger.Info("raised the feature level", "to", level)
}
