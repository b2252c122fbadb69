package layout

import (
	"context"
	"io"
	"time"

	"dormouse/agent"
)

// Member is a node as stored in the cluster's membership.
type Member struct {
	ID              string // the name that the operator gave it
	Incarnation     string // random, stored in its data directory
	RaftAddr        string // for Raft and other traffic between nodes
	GRPCAddr        string
	HTTPAddr        string
	GossipAddr      string
	WantVote        bool // becomes a voter once it has caught up
	Version         string
	FeatureLevelMax uint32
	Zone            string // its location, for people
	Weight          int    // its share of the partitions; 0 for the default
	Host            bool   // it runs instances and stores no data; it is a member while its lease is valid
}

// LagMax is how many entries a node may be behind the leader and count as caught up.
const LagMax = 64

// MemberStatus is the current status of a member, as the answering node sees it.
type MemberStatus struct {
	Member
	Voter        bool
	Leader       bool
	Status       string // alive, suspect, failed, left or unknown, from gossip
	AppliedIndex uint64 // 0 if the member did not answer
	DiskFree     int64  // bytes free under its data directory; 0 if the member did not answer, or stores no data
	LastContact  int64  // Unix ms: when it last answered the answering node; 0 if it has not since that node started
	DrainedAt    int64  // Unix ms: when an operator drained it; 0 if it is not drained
}

// ClusterStatus is the status of the cluster, as one node sees it; it may lag.
type ClusterStatus struct {
	ClusterID    string
	Node         string // the answering node
	Leader       string // "" if none is known
	Term         uint64
	CommitIndex  uint64
	AppliedIndex uint64
	Chain        uint32 // CRC chain over all batches up to AppliedIndex: equal on equal nodes
	FeatureLevel uint32
	Version      string
	Auth         string // of the answering node: one of the auth modes
	Insecure     bool   // the answering node was started with --insecure
	Members      []MemberStatus
	Backup       *BackupStatus // nil if the cluster takes no backups by schedule, or if the leader does not answer
}

// The auth modes of a node.
const (
	AuthOff    = "off"    // the node asks for no credentials
	AuthTokens = "tokens" // the node asks each caller for a token
)

// Change is a change of a member by an operator.
type Change string

// The changes.
const (
	ChangeLeave    Change = "leave"    // remove a node permanently; its data directory is refused afterwards, its name can be used again
	ChangePromote  Change = "promote"  // make a node a voter once it has caught up
	ChangeDemote   Change = "demote"   // remove a node's vote
	ChangeTransfer Change = "transfer" // transfer leadership to the node, or to any node if none is named
	ChangeDrain    Change = "drain"    // move all partitions of a member to others, and give it none; it stays a member
	ChangeResume   Change = "resume"   // end a drain
)

// Operator is the contract for operators, served by any node. Errors are *agent.Error. All
// methods may be called concurrently.
type Operator interface {
	// Status returns the status of the cluster; it never waits for a quorum.
	Status(ctx context.Context) (ClusterStatus, error)

	// Change sends a change to the leader, waits until it is committed, and returns
	// the leader after it. If the error is unknown, the change may still take effect.
	// The partitions of a drained member move after the call: Placement shows how many
	// are left. The last member that could own partitions is not drained: conflict.
	Change(ctx context.Context, change Change, node string) (leader string, err error)

	// Backup writes a consistent snapshot of the whole store to w, at an index no
	// older than the call.
	Backup(ctx context.Context, w io.Writer) error

	// The scheduled backups, which the leader takes.
	BackupTaker

	// ExportScope calls write with all rows of a scope in key order, at one index no
	// older than the call. The first part holds the header. Claims, stored answers of
	// requests and the feed of changes are not exported. A missing scope is not_found.
	ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error

	// Placement returns the owners of partitions, as the answering node has applied
	// them. It never waits for a quorum.
	Placement(ctx context.Context, q PlacementQuery) (Placement, error)

	// PinPartition says that a member is to own a partition, which moves there after
	// the call if that member does not own it; "" removes the pin. A member that is
	// unknown is not_found; one that is drained, has no lease, or lacks Go handlers
	// that others have is a conflict.
	PinPartition(ctx context.Context, partition int, node string) error

	// JoinToken returns a token with which a node that has no cluster key joins. It is
	// valid for ttl; 0 means an hour.
	JoinToken(ctx context.Context, ttl time.Duration) (JoinToken, error)
}

// JoinTokenTTLMax bounds the validity of a join token.
const JoinTokenTTLMax = 30 * 24 * time.Hour

// JoinToken lets a node that has no cluster key receive it.
type JoinToken struct {
	Secret    string
	ExpiresAt int64 // Unix milliseconds
}
