package cluster

import (
	"context"

	"dormouse/cluster/raftlog"
)

// Peers asks other nodes, over connections that this group's DialPeer made.
// The node at addr answers for itself; it never forwards.
type Peers interface {
	Status(ctx context.Context, addr string) (PeerStatus, error)
	Join(ctx context.Context, addr string, r JoinRequest) (JoinResponse, error)
	GrantFounding(ctx context.Context, addr string, r FoundingRequest) (FoundingResponse, error)
	Change(ctx context.Context, addr string, kind, node string) (ChangeResponse, error)

	// Term asks the node at addr who it is and in which term, as of a moment after
	// the call. It does not wait: done is called exactly once, and must not block.
	Term(addr string, done func(node string, term uint64, err error))
}

// PeerStatus is what a node knows of itself.
type PeerStatus struct {
	ClusterID       string // "" where it knows no cluster
	Node            string
	Incarnation     string
	Leader          string // "" where it knows none
	LeaderAddr      string
	Term            uint64
	LastIndex       uint64
	AppliedIndex    uint64
	CommitIndex     uint64
	Chain           uint32 // over all entries up to AppliedIndex
	FeatureLevelMax uint32
	Version         string
	CatchingUp      bool // it may not vote yet, or not now: its log lacks what it must hold first
	Removed         bool // it has learnt that it is no longer a member

	Founding string // id of the founding that this node has under way; "" where there is none
	MayFound bool   // it is configured to found a cluster, and belongs to none
}

// FoundingRequest asks a node without a cluster to let another node found one.
type FoundingRequest struct {
	Node        string
	Incarnation string
	RaftAddr    string
	Founding    string // id, made for each attempt
}

// FoundingResponse answers a FoundingRequest.
type FoundingResponse struct {
	Granted   bool
	ClusterID string // of the node that answers; "" where it knows none
	Holder    string // where not granted: the node that has the grant
}

// JoinRequest asks to be a member, or tells that a member's facts changed.
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
	ClusterID       string // "" where it knows none yet
	Run             string // which process asks: minted with each start
	Zone            string
	Weight          int
}

// JoinResponse answers a JoinRequest: accepted, or go elsewhere, or refused.
// None of them means: no leader is known here now, so ask again.
type JoinResponse struct {
	ClusterID   string
	Leader      string // ask this one instead
	LeaderAddr  string
	Accepted    bool
	Refused     string // why, in words that say what to do; final
	GossipAddrs []string
	Admission   raftlog.Admission // of a node that was in no cluster yet
}

// ChangeResponse answers a change: done, or go elsewhere, or refused. None of
// them means that it may or may not have been done: ask again.
type ChangeResponse struct {
	Leader     string // where not done here: ask this one; where done, who leads now
	LeaderAddr string
	Done       bool
	Refused    string
}
