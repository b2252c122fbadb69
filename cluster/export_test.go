package cluster

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
	"dormouse/placement"
)

// What tests of other packages' names may touch.

func (g *Group) Raft() *raft.Raft { return g.raft }

// HoldProposer waits until nothing is in flight and lets no entry be sent until
// resume is called.
func (g *Group) HoldProposer(ctx context.Context) (resume func(), err error) {
	return g.proposer.hold(ctx)
}

const (
	BatchBytesMax    = batchBytesMax
	BatchCommitsMax  = batchCommitsMax
	CommitBytesMax   = commitBytesMax
	EntryBytesMax    = entryBytesMax
	AppendBytesMax   = appendBytesMax
	AppendEntriesMax = appendEntriesMax
	QueueCommitsMax  = queueCommitsMax
	QueueBytesMax    = queueBytesMax
	CommitMax        = commitMax
	WallStepMax      = wallStepMax
)

// Clock is the clock of one term.
type Clock struct{ c *clock }

func NewClock(tick uint64, wall int64, now time.Time) Clock {
	return Clock{armClock(tick, wall, now, newMetrics())}
}

func (c Clock) Stamp(now time.Time) (uint64, int64, time.Duration) { return c.c.stamp(now) }

func (c Clock) Until(tick uint64, wall int64, now time.Time) (time.Duration, bool) {
	return c.c.until(tick, wall, now)
}

// WhoIsAt tells what g finds at addr when it looks for itself.
func (g *Group) WhoIsAt(ctx context.Context, addr string) string {
	return [...]string{unsure: "unsure", vacant: "vacant", oneself: "oneself", twin: "twin"}[g.whoIsAt(ctx, addr, g.self.Incarnation, g.self.Process)]
}

// CutFounding leaves stores as a crash in the middle of founding does.
func CutFounding(dir, node, cluster string) error {
	s, err := raftlog.Open(raftlog.Options{Dir: dir, Fatal: func(error) {}})
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return s.Stable.Set(keyFounding, []byte(cluster)) },
		func() error {
			self, err := transport.LoadSelf(node, s.Stable)
			if err != nil {
				return err
			}
			return self.Adopt(cluster)
		},
		func() error { return s.Stable.SetUint64([]byte(raftlog.KeyCurrentTerm), 1) },
		s.Close,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// SetDisk makes free tell how much room the node has. It is called before Run.
func (g *Group) SetDisk(dir string, free func() int64) {
	g.stores.Disk = raftlog.NewDisk(dir, func(string) (int64, error) { return free(), nil }, g.logger)
}

// DrainsMax is how many partitions may drain at once.
const DrainsMax = drainsMax

// Plan gives the moves that the leader makes, in their order.
func Plan(table []*agent.Partition, nodes []placement.Node, kept func(n int) bool) (moves []agent.PartitionMove) {
	for _, s := range plan(table, nodes, kept, &aim{}) {
		moves = append(moves, s.moves...)
	}
	return moves
}

// Aim is aim.
type Aim struct{ aim }

// Target is who is to own each partition.
func (a *Aim) Target(owners []string, nodes []placement.Node) []string {
	return a.target(owners, nodes)
}

// Candidate is candidate.
type Candidate = candidate

// NewCandidate makes a candidate.
func NewCandidate(n placement.Node, handlers []string, errands bool) Candidate {
	return candidate{n, handlers, errands}
}

// Able is able.
var Able = able
