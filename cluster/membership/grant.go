package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/cluster/raftlog"
)

// keyGrant holds the founding that this node has granted, as JSON.
var keyGrant = []byte("dormouse/founding-grant")

// grants holds the founding that this node has granted, its own or another
// node's. A grant is durable. It ends only when the node that has it says that the
// founding is over: a founding that may still happen is never granted twice.
type grants struct {
	stable raft.StableStore

	deciding chan struct{} // holds one token: a grant is being decided
	mu       sync.Mutex
	own      string // id of the founding that this node has under way; guarded by mu
}

func newGrants(stable raft.StableStore) *grants {
	return &grants{stable: stable, deciding: make(chan struct{}, 1)}
}

func (s *grants) begin(founding string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = founding
}

// end ends this node's own founding. The nodes that granted it learn that when they
// ask.
func (s *grants) end(founding string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == founding {
		s.own = ""
	}
}

// underWay returns the id of this node's own founding, or "".
func (s *grants) underWay() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}

// holder returns the founding that is granted; the zero value if none is.
func (s *grants) holder() (r FoundingRequest, err error) {
	text, err := raftlog.GetString(s.stable, keyGrant)
	if err != nil || text == "" {
		return FoundingRequest{}, err
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return FoundingRequest{}, fmt.Errorf("%w: %s: %w: %s", raftlog.ErrDamaged, keyGrant, err, raftlog.Rebuild)
	}
	return r, nil
}

func (s *grants) keep(r FoundingRequest) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := s.stable.Set(keyGrant, text); err != nil {
		return fmt.Errorf("keep the grant of a founding: %w", err)
	}
	return nil
}

// HandleFounding answers a node, this one included, that asks to found a cluster.
func (j *Joiner) HandleFounding(ctx context.Context, r FoundingRequest) (FoundingResponse, error) {
	select {
	case j.grants.deciding <- struct{}{}:
		defer func() { <-j.grants.deciding }()
	case <-ctx.Done():
		return FoundingResponse{}, agent.Errorf(agent.CodeUnavailable, "node %s is deciding on another founding", j.Self.Node)
	}
	if cluster := j.Self.ClusterID(); cluster != "" && r.Incarnation != j.Self.Incarnation {
		return FoundingResponse{ClusterID: cluster}, nil
	}
	held, err := j.grants.holder()
	if err != nil {
		return FoundingResponse{}, err
	}
	if held.Founding != "" && held.Founding != r.Founding && !j.isOver(ctx, held) {
		return FoundingResponse{Holder: held.Node}, nil
	}
	if err := j.grants.keep(r); err != nil {
		return FoundingResponse{}, err
	}
	return FoundingResponse{Granted: true}, nil
}

// isOver reports whether a founding that was granted can no longer happen: its
// node, asked after the grant, belongs to no cluster and is not at that founding
// any more, or has lost its data.
func (j *Joiner) isOver(ctx context.Context, held FoundingRequest) bool {
	if held.Incarnation == j.Self.Incarnation {
		founding, cluster := j.Standing()
		return cluster == "" && founding != held.Founding
	}
	there, err := j.status(ctx, held.RaftAddr)
	if err != nil || there.Node != held.Node || there.ClusterID != "" {
		return false
	}
	return there.Incarnation != held.Incarnation || there.Founding != held.Founding
}
