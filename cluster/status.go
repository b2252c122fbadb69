package cluster

import (
	"math"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/cluster/membership"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// LeaderChanged returns a channel that is closed when this node's view of the
// leader changes, or when this node's term becomes ready or ends.
func (g *Group) LeaderChanged() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// Leader returns the node that this node believes to be the leader, or "". It is a
// hint.
func (g *Group) Leader() (id, addr string) {
	a, i := g.raft.LeaderWithID()
	return string(i), string(a)
}

// IsLeader reports whether this node believes that it leads and may propose. It is
// a hint: another node may have won a later term.
func (g *Group) IsLeader() bool { return g.term.Load() != nil }

// Tick returns now in ticks on the leader, and the last applied tick on other nodes.
func (g *Group) Tick() uint64 {
	tick, _ := g.machine.Stamps()
	if t := g.term.Load(); t != nil {
		return max(tick, t.Clock.Tick(time.Now()))
	}
	return tick
}

// CatchUp reports whether a wall time of the log is the leader's time; see
// proposer.Proposer.CatchUp.
func (g *Group) CatchUp(wall int64) bool { return g.proposer.CatchUp(wall) }

// UpToDate returns the newest time for which this node's state machine has applied all that was
// committed then; now, on the leader. It is zero if it is not known.
func (g *Group) UpToDate() time.Time {
	if g.IsLeader() {
		return time.Now()
	}
	return g.guard.UpToDate()
}

// assignLeadership is what package assign knows of the leader.
type assignLeadership struct{ *Group }

// Takeover implements assign.Leadership.
func (g assignLeadership) Takeover() (assign.Takeover, bool) {
	t := g.term.Load()
	if t == nil {
		return assign.Takeover{}, false
	}
	tick, began := t.Clock.Began()
	heard := g.raft.LastContact()
	return assign.Takeover{Term: t.Number, Tick: tick, Began: began, Heard: heard}, g.term.Load() == t
}

// ClusterID returns the cluster that this node belongs to, or "".
func (g *Group) ClusterID() string { return g.self.ClusterID() }

// Incarnation returns the random id of this node's data directory.
func (g *Group) Incarnation() string { return g.self.Incarnation }

// Process returns the random id of this process, which changes with each start. It
// is the incarnation of the partitions that the process owns.
func (g *Group) Process() string { return g.self.Process }

// Addr returns the address that others reach this node at.
func (g *Group) Addr() string { return g.stream.Addr() }

// Ready returns nil if this node can serve: it leads and may propose, or it follows
// a leader closely; see behind for the distance. A disk that is nearly full does not count. Such a
// node serves reads, and its writes go to the leader, which refuses them itself if it has no room
// either. Nodes of one cluster fill their disks together, and a balancer without any node that is
// ready would end all reads.
func (g *Group) Ready() error {
	switch {
	case g.self.Removed():
		return agent.Errorf(agent.CodeUnavailable, "%v", transport.ErrRemoved)
	case g.IsLeader():
		return nil
	case g.self.ClusterID() == "":
		return agent.Errorf(agent.CodeUnavailable, "this node belongs to no cluster yet")
	}
	id, _ := g.Leader()
	committed := g.guard.Committed()
	switch contact := time.Since(g.raft.LastContact()); {
	case id == "":
		return agent.Errorf(agent.CodeUnavailable, "no leader is known")
	case id == g.o.NodeID:
		return agent.Errorf(agent.CodeUnavailable, "this node has won an election and is not ready to lead yet")
	case contact > 3*g.o.Timing.Heartbeat:
		return agent.Errorf(agent.CodeUnavailable, "no message from the leader for %v", contact.Round(time.Millisecond))
	case committed == 0:
		return agent.Errorf(agent.CodeUnavailable, "the leader has not sent its commit index yet")
	}
	switch entries, ok := behind(g, committed); {
	case !ok:
		return agent.Errorf(agent.CodeUnavailable, "the log of this node cannot be read")
	case entries > layout.LagMax:
		return agent.Errorf(agent.CodeUnavailable, "%d entries behind the leader", entries)
	}
	return nil
}

// behind returns how many entries up to the leader's commit index the node of g lacks or has not
// applied yet; ok is false if its log cannot be read. The index comes from AppendEntries, because
// a node's own commit index never exceeds its last entry. Raft counts an entry as applied once it
// has queued it for the state machine, and the queue has room for thousands, so the state
// machine's own index counts too.
func behind(g *Group, committed uint64) (entries uint64, ok bool) {
	waiting, ok := unapplied(g.stores.Logs, committed, g.raft.LastIndex(), g.machine.Applied())
	return max(waiting, excess(committed, g.raft.AppliedIndex())), ok
}

// unapplied returns how many entries up to committed a state machine lacks that has applied its
// entries up to applied, if logs ends at last. Raft's own entries never reach the state machine.
func unapplied(logs raft.LogStore, committed, last, applied uint64) (entries uint64, ok bool) {
	newest, ok := raftlog.NewestCommand(logs, min(committed, last), applied)
	return excess(committed, last) + excess(newest, applied), ok
}

// excess returns a-b, or 0 if b is larger.
func excess(a, b uint64) uint64 { return a - min(a, b) }

// DiskRoom returns how many bytes this node can write to the disk of its data directory beside the log and the
// state, so that it stays writable; math.MaxInt64 if its log is on no disk.
func DiskRoom(g *Group) (int64, error) {
	if disk := g.stores.Disk; disk != nil {
		return disk.Room()
	}
	return math.MaxInt64, nil
}

// LocalStatus returns what this node knows of itself.
func (g *Group) LocalStatus() membership.PeerStatus {
	founding, cluster := g.joiner.Standing()
	id, addr := g.Leader()
	applied, chain := g.machine.Chain()
	free := int64(0)
	if disk := g.stores.Disk; disk != nil {
		free = disk.Left.Load()
	}
	return membership.PeerStatus{
		ClusterID: cluster, Node: g.o.NodeID, Incarnation: g.self.Incarnation, Leader: id, LeaderAddr: addr,
		Term: g.raft.CurrentTerm(), LastIndex: g.raft.LastIndex(), CommitIndex: g.raft.CommitIndex(),
		AppliedIndex: applied, Chain: chain, Version: g.o.Self.Version, FeatureLevelMax: g.o.Self.FeatureLevelMax,
		CatchingUp: !g.stores.MayVote(), Removed: g.self.Removed(), FlushTime: g.stores.FailStop.FlushTime(),
		Founding: founding, MayFound: g.joiner.MayFound(), DiskFree: free, LeaderEnded: g.failover.LeaderEnded(),
	}
}
