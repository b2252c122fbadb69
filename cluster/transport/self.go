package transport

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

// Keys in the stable store, which is synced at once: they must survive a crash
// that the state machine's own disk does not.
var (
	keyNode        = []byte("dormouse/node")
	keyClusterID   = []byte("dormouse/cluster-id")
	keyIncarnation = []byte("dormouse/incarnation")
	keyFormat      = []byte("dormouse/format")
)

// storesFormat is the version of what is in the log and the stable store. A
// newer one is refused.
const storesFormat = 1

// ErrRemoved says that the cluster has removed this node.
var ErrRemoved = errors.New("this node was removed from the cluster permanently: to join again it needs an empty data directory")

// Self is the identity of this node: its name, its data directory, its process
// and its cluster. Its methods may be called concurrently.
type Self struct {
	Node        string
	Incarnation string // of the data directory: random, created with it
	Process     string // random, created with each start
	stable      raft.StableStore

	mu      sync.Mutex
	cluster string // "" if unknown; set once; guarded by mu
	removed bool   // this node is no longer a member; guarded by mu

	// claim marks the state machine's disk as the cluster's, or refuses; nil if
	// the disk needs no mark. Set before the first use.
	claim func(cluster string) error
}

// LoadSelf returns the identity of node that stable holds, and creates what is
// missing. The error wraps raftlog.ErrForeign if stable belongs to another node
// or to a newer version.
func LoadSelf(node string, stable raft.StableStore) (*Self, error) {
	if err := checkFormat(stable); err != nil {
		return nil, err
	}
	s := &Self{Node: node, Process: uuid.NewString(), stable: stable}
	switch owner, err := raftlog.GetString(stable, keyNode); {
	case err != nil:
		return nil, err
	case owner == "":
		if err := stable.Set(keyNode, []byte(node)); err != nil {
			return nil, fmt.Errorf("keep the node id: %w", err)
		}
	case owner != node:
		return nil, fmt.Errorf("%w: the data directory is that of node %s, but this is node %s: give each node a directory of its own", raftlog.ErrForeign, owner, node)
	}
	incarnation, err := raftlog.GetString(stable, keyIncarnation)
	if err != nil {
		return nil, err
	}
	if incarnation == "" {
		incarnation = uuid.NewString()
		if err := stable.Set(keyIncarnation, []byte(incarnation)); err != nil {
			return nil, fmt.Errorf("keep the incarnation: %w", err)
		}
	}
	s.Incarnation = incarnation
	if s.cluster, err = raftlog.GetString(stable, keyClusterID); err != nil {
		return nil, err
	}
	return s, nil
}

// ReadSelf returns the identity of the node that stable holds, and changes nothing.
func ReadSelf(stable raft.StableStore) (node, cluster string, err error) {
	if node, err = raftlog.GetString(stable, keyNode); err != nil {
		return "", "", err
	}
	cluster, err = raftlog.GetString(stable, keyClusterID)
	return node, cluster, err
}

// checkFormat refuses a directory that a newer version wrote.
func checkFormat(stable raft.StableStore) error {
	switch format, err := stable.GetUint64(keyFormat); {
	case err != nil && !raftlog.Absent(err):
		return fmt.Errorf("read the format: %w", err)
	case format > storesFormat:
		return fmt.Errorf("%w: the log was written by a newer version (format %d; this one reads up to %d): start the newer version, or choose another data directory", raftlog.ErrForeign, format, storesFormat)
	case format == storesFormat:
		return nil
	}
	if err := stable.SetUint64(keyFormat, storesFormat); err != nil {
		return fmt.Errorf("keep the format: %w", err)
	}
	return nil
}

// SetClaim sets the function that marks the state machine's disk as a cluster's.
// It calls claim at once if the cluster is known. claim may be nil.
func (s *Self) SetClaim(claim func(cluster string) error) error {
	s.claim = claim
	if known := s.ClusterID(); claim != nil && known != "" {
		return claim(known)
	}
	return nil
}

// ClusterID returns the cluster that this node belongs to, or "".
func (s *Self) ClusterID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cluster
}

// Adopt makes this node a part of a cluster. That is durable and final.
func (s *Self) Adopt(cluster string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster == cluster {
		return nil
	}
	if s.cluster != "" {
		return fmt.Errorf("this node belongs to cluster %s, not to %s", s.cluster, cluster)
	}
	if s.claim != nil {
		if err := s.claim(cluster); err != nil {
			return err
		}
	}
	if err := s.stable.Set(keyClusterID, []byte(cluster)); err != nil {
		return fmt.Errorf("keep the cluster id: %w", err)
	}
	s.cluster = cluster
	return nil
}

// Removed reports whether the cluster has removed this node, as far as this
// process knows.
func (s *Self) Removed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removed
}

// SetRemoved records that the cluster has removed this node. It reports whether
// that was unknown.
func (s *Self) SetRemoved() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.removed
	s.removed = true
	return first
}
