package membership

import (
	"context"
	"time"

	"dormouse/cluster/proposer"
	"dormouse/cluster/raftlog"
)

// Peers sends requests to other nodes. The node at addr answers for itself and
// never forwards.
type Peers interface {
	proposer.Voters
	Status(ctx context.Context, addr string) (PeerStatus, error)
	Join(ctx context.Context, addr string, r JoinRequest) (JoinResponse, error)
	GrantFounding(ctx context.Context, addr string, r FoundingRequest) (FoundingResponse, error)
	Change(ctx context.Context, addr string, kind, node string) (ChangeResponse, error)
}

// PeerStatus is what a node knows of itself.
type PeerStatus struct {
	ClusterID       string // "" if it belongs to none
	Node            string
	Incarnation     string
	Leader          string // "" if it knows none
	LeaderAddr      string
	Term            uint64
	LastIndex       uint64
	AppliedIndex    uint64
	CommitIndex     uint64
	Chain           uint32 // checksum over all entries up to AppliedIndex
	FeatureLevelMax uint32
	Version         string
	CatchingUp      bool          // it may not vote now: its log lacks entries that it must hold first
	FlushTime       time.Duration // average of a durable write to its log; 0 before the first
	DiskFree        int64         // bytes free under its data directory; 0 before the first check
	LeaderEnded     bool          // the process of this term's leader has ended, as far as the node can see
	Removed         bool          // it has learned that it is no longer a member

	Founding string // id of the founding that this node has under way; "" if none
	MayFound bool   // it is configured to found a cluster, and belongs to none
}

// FoundingRequest asks a node without a cluster to let another node found one.
type FoundingRequest struct {
	Node        string
	Incarnation string
	RaftAddr    string
	Founding    string // id, new for each attempt
}

// FoundingResponse answers a FoundingRequest.
type FoundingResponse struct {
	Granted   bool
	ClusterID string // of the node that answers; "" if it belongs to none
	Holder    string // the node that has the grant, if Granted is false
}

// JoinRequest asks to become a member, or updates a member's row.
type JoinRequest struct {
	Node            string
	Incarnation     string
	RaftAddr        string
	GRPCAddr        string
	HTTPAddr        string
	GossipAddr      string
	WantVote        bool
	Version         string
	FeatureLevelMax uint32
	Empty           bool   // its data directory held no state when it started
	ClusterID       string // "" if it belongs to none yet
	Process         string // random, created with each start
	Zone            string
	Weight          int
}

// JoinResponse answers a JoinRequest. Accepted, Refused or Leader says how; if
// none is set, no leader is known now, and the caller retries.
type JoinResponse struct {
	ClusterID   string
	Leader      string // ask this node instead
	LeaderAddr  string
	Accepted    bool
	Refused     string // why, and what to do; final
	GossipAddrs []string
	Admission   raftlog.Admission // of a node that belonged to no cluster yet
}

// ChangeResponse answers a change of membership: done, refused, or another node
// leads. If none of them is set, the outcome is unknown, and the caller retries.
type ChangeResponse struct {
	Leader     string // the current leader: ask it if Done is false
	LeaderAddr string
	Done       bool
	Refused    string
	Begun      bool // the change was begun and has failed: it may still be made; not sent between nodes
}
