package agent

import (
	"context"
	"io"
)

// Member is a node as the cluster knows it.
type Member struct {
	ID              string // the operator's name for it
	Incarnation     string // random, kept in its data directory
	RaftAddr        string // where Raft and peers reach it
	GRPCAddr        string
	HTTPAddr        string
	GossipAddr      string
	WantVote        bool // is to be a voter once it has caught up
	Version         string
	FeatureLevelMax uint32
	Zone            string // where it stands, for people
	Weight          int    // its share of the partitions; 0 for the usual
	Host            bool   // it keeps instances and no data; it is a member for as long as its lease stands
}

// MemberStatus is a member as the answering node sees it now.
type MemberStatus struct {
	Member
	Voter        bool
	Leader       bool
	Status       string // alive, suspect, failed, left, or unknown: what gossip says
	AppliedIndex uint64 // 0 where it could not be asked
}

// ClusterStatus is the cluster as one node sees it; it may lag.
type ClusterStatus struct {
	ClusterID    string
	Node         string // who answers
	Leader       string // "" where none is known
	Term         uint64
	CommitIndex  uint64
	AppliedIndex uint64
	Chain        uint32 // CRC chain over all batches up to AppliedIndex: equal on equal nodes
	FeatureLevel uint32
	Version      string
	Members      []MemberStatus
}

// Change is a change of membership that an operator asks for.
type Change string

// The changes.
const (
	ChangeLeave    Change = "leave"    // remove a node for good; its data directory is refused afterwards, its name is free
	ChangePromote  Change = "promote"  // let a node vote once it has caught up
	ChangeDemote   Change = "demote"   // take a node's vote
	ChangeTransfer Change = "transfer" // hand leadership to the node, or to any where none is named
)

// Operator is what operators ask of a cluster, through any node. Errors are
// *Error. All methods may be called concurrently.
type Operator interface {
	// Status never waits for a quorum.
	Status(ctx context.Context) (ClusterStatus, error)

	// Change asks the leader for a change, waits until it is committed, and
	// returns the leader after it. An error may leave the outcome unknown.
	Change(ctx context.Context, change Change, node string) (leader string, err error)

	// Backup writes a consistent snapshot of the whole store, as of an index
	// no older than the call, to w.
	Backup(ctx context.Context, w io.Writer) error

	// ExportScope hands all rows of a scope to write, in the order of their
	// keys, as of one index no older than the call. The first part has the
	// header. Neither claims, nor what is remembered of requests, nor the feed of
	// changes is in it. A scope that does not exist is not_found.
	ExportScope(ctx context.Context, scope string, write func(ScopePart) error) error

	// Placement is who owns what, as the answering node has applied it. It never
	// waits for a quorum.
	Placement(ctx context.Context, q PlacementQuery) (Placement, error)
}
