package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/cluster/keys"
	"dormouse/cluster/membership"
	"dormouse/cluster/proposer"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// StateMachine is the state machine that a group replicates. Apply returns one
// agent.Decided for each commit of the entry, in order, as []agent.Decided.
type StateMachine interface {
	raft.FSM
	proposer.Machine
	membership.Machine

	// Check returns an error if an entry is damaged. It is cheap.
	Check(entry []byte) error
	// Stamps returns the stamps of the last applied entry.
	Stamps() (tick uint64, wall int64)
}

// Options configures a Group.
type Options struct {
	NodeID    string             // the operator's name for this node; never reused for another
	Dir       string             // holds the log and the stable store; "" keeps both in memory
	LogStore  string             // "wal" or "bolt"; "" means wal
	Network   transport.Network  // nil means TCP
	Keys      keys.Ring          // the cluster key; required
	Roots     *x509.CertPool     // verifies the nodes' certificates; nil if Network does, or uses no TLS
	Listen    string             // address to listen on
	Advertise string             // address that others reach this node at; "" means the listener's
	Machine   StateMachine       // already restored from its own disk
	Snapshots raft.SnapshotStore // the machine's
	Self      layout.Member      // this node's member row; ID, Incarnation and RaftAddr are filled in
	Bootstrap bool               // found a cluster once every address of Join has answered that it knows none
	Expect    int                // found a cluster once this many nodes, this one included, have met and none knows one; 0 means never
	Alone     bool               // no other node can exist: found at once
	Join      []string           // Raft addresses of nodes to ask for admission
	// Learned returns further Raft addresses, such as those that gossip has found.
	// It may be nil.
	Learned func() []string
	// Lookup returns the addresses of a host name. nil means that names are dialed
	// as they are.
	Lookup func(ctx context.Context, host string) ([]string, error)
	Peers  membership.Peers // sends requests to other nodes; nil on a node that is alone
	Fatal  func(error)      // called once when the node must stop, because it can no longer keep its promises
	Logger hclog.Logger     // nil means none
	Timing Timing           // zero means DefaultTiming
	// AcceptDamage lets a node whose log lost durable entries vote again at once. It
	// is for an operator who knows that other nodes have the entries.
	AcceptDamage bool
	// Claim receives the cluster's id before any of its entries is applied, and marks
	// the state machine's disk with it. If it returns an error, the node does not
	// join. It may be nil.
	Claim func(cluster string) error
	// DiskReserve is how many bytes must be free for this node to accept writes; 0
	// means a share of the disk.
	DiskReserve int64
	// LogFiles is where Dir is; nil means the machine's disk. A simulator gives its own.
	LogFiles raftlog.Files
	// LogSegmentBytes is the size of a segment of a log of kind wal; 0 means the default of
	// package raftlog.
	LogSegmentBytes int
	// LogCacheBytes bounds the newest entries that are kept in memory; 0 means
	// raftlog.CacheBytes.
	LogCacheBytes int64
	// ReadBarrier is how reads are linearizable: BarrierIndex or BarrierLog; ""
	// means BarrierIndex.
	ReadBarrier string
	WriteFirst  bool              // as leader, this node writes its entries before it sends them, not meanwhile
	Voters      membership.Voters // how many members vote; zero means all
	Compaction  Compaction        // when the log is cut; zero means DefaultCompaction

	EntryCommits int              // most commits that this node packs into a log entry as leader; 0 means proposer.BatchCommitsMax
	Placement    assign.Placement // of the partitions; zero means none
}

// Timing is how fast a group notices the failure of its leader. Nodes of one group should
// have the same timing: a cluster whose nodes differ is safe, but holds needless elections.
type Timing struct {
	Heartbeat time.Duration // a follower without contact to a leader stands for election after this time
	Election  time.Duration // a candidate gives up after this time
	Lease     time.Duration // a leader without a quorum steps down after this time; at most Heartbeat

	Round time.Duration // a linearizable read goes through the log if the voters have not answered after this time; 0 means proposer.RoundDefault

	Failover membership.FailoverTiming // of elections that do not wait for Raft's timeout
}

// DefaultTiming returns a timing that suits a data center. A leader that is silent is
// replaced within a second. A node that stops for 300 ms between two heartbeats, which are
// 200 ms apart, changes nothing: the next heartbeat comes after 500 ms. The leader's lease
// lasts 750 ms, and a voter waits as long (Silence and Answer) before it replaces the leader.
func DefaultTiming() Timing {
	return Timing{
		Heartbeat: time.Second, Election: time.Second, Lease: 750 * time.Millisecond, Round: proposer.RoundDefault,
		Failover: membership.FailoverTiming{
			Silence: 450 * time.Millisecond, Answer: 300 * time.Millisecond,
			Probe: 200 * time.Millisecond, Agree: time.Second, Stand: 150 * time.Millisecond,
		},
	}
}

// AloneTiming returns the timing of a node that is alone: it elects itself at once.
func AloneTiming() Timing {
	return Timing{
		Heartbeat: 20 * time.Millisecond, Election: 20 * time.Millisecond, Lease: 20 * time.Millisecond, Failover: DefaultTiming().Failover,
	}
}

func (o *Options) fill() error {
	switch {
	case o.NodeID == "":
		return errors.New("cluster: a node needs an id")
	case len(o.Keys) == 0:
		return errors.New("cluster: a node needs a cluster key")
	case o.Machine == nil || o.Snapshots == nil:
		return errors.New("cluster: a node needs a state machine and its snapshots")
	}
	if o.LogStore == "" {
		o.LogStore = "wal"
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Timing == (Timing{}) {
		o.Timing = DefaultTiming()
	}
	if o.Timing.Failover == (membership.FailoverTiming{}) {
		o.Timing.Failover = DefaultTiming().Failover
	}
	if o.Compaction == (Compaction{}) {
		o.Compaction = DefaultCompaction()
	}
	if o.Fatal == nil {
		o.Fatal = func(error) {}
	}
	return nil
}
