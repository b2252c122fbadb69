package cluster

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

// grants is the founding that this node lets happen, its own or another node's.
// A grant is durable, and ends only when the node that has it says that this
// founding is over: a founding that may still happen is never granted twice.
type grants struct {
	stable raft.StableStore

	deciding chan struct{} // a token of one: a grant is being decided
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

// end ends this node's own founding. Those that granted it find out by asking.
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

// HandleFounding answers a node, this one included, that asks to found a
// cluster.
func (g *Group) HandleFounding(ctx context.Context, r FoundingRequest) (FoundingResponse, error) {
	select {
	case g.grants.deciding <- struct{}{}:
		defer func() { <-g.grants.deciding }()
	case <-ctx.Done():
		return FoundingResponse{}, agent.Errorf(agent.CodeUnavailable, "node %s is deciding on another founding", g.o.NodeID)
	}
	if cluster := g.self.ClusterID(); cluster != "" && r.Incarnation != g.self.Incarnation {
		return FoundingResponse{ClusterID: cluster}, nil
	}
	held, err := g.grants.holder()
	if err != nil {
		return FoundingResponse{}, err
	}
	if held.Founding != "" && held.Founding != r.Founding && !g.over(ctx, held) {
		return FoundingResponse{Holder: held.Node}, nil
	}
	if err := g.grants.keep(r); err != nil {
		return FoundingResponse{}, err
	}
	return FoundingResponse{Granted: true}, nil
}

// over reports whether a founding that was granted can no longer happen: its
// node, asked after it was granted, belongs to no cluster and is not at it any
// more, or has lost its data.
func (g *Group) over(ctx context.Context, held FoundingRequest) bool {
	if held.Incarnation == g.self.Incarnation {
		return g.grants.underWay() != held.Founding
	}
	there, err := g.askStatus(ctx, held.RaftAddr)
	if err != nil || there.Node != held.Node || there.ClusterID != "" {
		return false
	}
	return there.Incarnation != held.Incarnation || there.Founding != held.Founding
}
