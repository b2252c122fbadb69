package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/cluster/transport"
)

// StateMachine is what a group replicates. Apply returns one agent.Decided for
// each commit of the entry, in order, as []agent.Decided.
type StateMachine interface {
	raft.FSM

	// Pack makes one log entry of commits, stamped with the leader's time.
	Pack(tick uint64, wall int64, commits [][]byte) []byte
	// Check tells whether an entry is intact. It is cheap.
	Check(entry []byte) error

	// Applied is the index of the last entry that views see.
	Applied() uint64
	// WaitApplied waits until views see index.
	WaitApplied(ctx context.Context, index uint64) error
	// Chain is the running checksum over all entries up to index.
	Chain() (index uint64, chain uint32)
	// Stamps are the stamps of the last applied entry.
	Stamps() (tick uint64, wall int64)
	// Due is when something falls due next, on either clock; 0 means nothing.
	Due() (tick uint64, wall int64)

	// Members are the nodes that the cluster knows, by its log.
	Members() []agent.Member
	// Removed tells whether the node of that incarnation was removed for good.
	Removed(incarnation string) bool
	// FeatureLevel is what all members were able to do when it was raised.
	FeatureLevel() uint32

	// The encoders make whole commits, as Submit takes them.
	EncodePutMember(agent.Member) []byte
	EncodeRemoveMember(id, incarnation string) []byte
	EncodeFeatureLevel(level uint32) []byte
}

// Options say what a group is made of.
type Options struct {
	NodeID    string             // the operator's name for this node; never reused for another
	Dir       string             // holds the log and the stable store; "" keeps both in memory
	LogStore  string             // "wal" or "bolt"; "" means wal
	Network   transport.Network  // nil means TCP
	Listen    string             // address to listen on
	Advertise string             // address others reach it at; "" means the listener's
	Machine   StateMachine       // already restored as far as its own disk goes
	Snapshots raft.SnapshotStore // the machine's
	Self      agent.Member       // this node as members shall know it; ID, Incarnation and RaftAddr are filled in
	Bootstrap bool               // found a cluster once every address of Join has answered that it knows none
	Expect    int                // found a cluster once so many nodes, this one included, have met and none knows one; 0 means never
	Alone     bool               // no other node can exist: found at once
	Join      []string           // raft addresses of nodes to ask for admission
	// Heard returns further raft addresses that this node has heard of, such as
	// by gossip. It may be nil.
	Heard func() []string
	// Lookup returns the addresses of a host name. nil means that names are
	// dialed as they are.
	Lookup func(ctx context.Context, host string) ([]string, error)
	Peers  Peers        // how to ask other nodes; nil on a node that is alone
	Fatal  func(error)  // told once when the node must stop: it can no longer keep what it promised
	Logger hclog.Logger // nil means none
	Timing Timing       // zero means DefaultTiming
	// AcceptDamage lets a node whose log lost durable entries vote again at
	// once: for an operator who knows that they are elsewhere.
	AcceptDamage bool
	// Claim is told the cluster's id before anything of it is applied, to mark
	// the state with it; its error refuses. It may be nil.
	Claim func(cluster string) error
	// DiskReserve is how many bytes must be free for this node to take writes;
	// 0 means what suits the disk.
	DiskReserve int64
	// LogSegmentBytes is how much room a log of kind wal sets aside at once; 0
	// means raftlog.walSegmentBytes.
	LogSegmentBytes int
	// ReadBarrier is how reads are linearizable: BarrierIndex or BarrierLog; ""
	// means BarrierIndex.
	ReadBarrier string
	Compaction  Compaction // when the log is cut; zero means DefaultCompaction
	Placement   Placement  // of the instances' partitions; zero means none
}

// Timing is how quickly a group notices that its leader is gone.
type Timing struct {
	Heartbeat time.Duration // a follower without contact for so long stands for election
	Election  time.Duration // a candidate gives up after so long
	Lease     time.Duration // a leader without a quorum for so long steps down; at most Heartbeat
}

// DefaultTiming suits a data centre: Raft's own defaults.
func DefaultTiming() Timing {
	return Timing{Heartbeat: time.Second, Election: time.Second, Lease: 500 * time.Millisecond}
}

// AloneTiming suits a node that is alone: it elects itself at once.
func AloneTiming() Timing {
	return Timing{Heartbeat: 20 * time.Millisecond, Election: 20 * time.Millisecond, Lease: 20 * time.Millisecond}
}

func (o *Options) fill() error {
	switch {
	case o.NodeID == "":
		return errors.New("cluster: a node needs an id")
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
	if o.Compaction == (Compaction{}) {
		o.Compaction = DefaultCompaction()
	}
	if o.Fatal == nil {
		o.Fatal = func(error) {}
	}
	return nil
}
