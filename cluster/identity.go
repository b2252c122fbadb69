package cluster

import (
	"fmt"
	"sync"

	"github.com/google/uuid"
	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

// Keys in the stable store, which is synced at once: what must survive a crash
// that the state machine's own disk does not.
var (
	keyNode        = []byte("dormouse/node")
	keyClusterID   = []byte("dormouse/cluster-id")
	keyIncarnation = []byte("dormouse/incarnation")
	keyFounding    = []byte("dormouse/founding")
	keyFormat      = []byte("dormouse/format")
)

// storesFormat is the version of what is in the log and the stable store. A
// newer one is refused.
const storesFormat = 1

// identity is who this node is: a name, a life, and the cluster it belongs to.
type identity struct {
	node        string
	incarnation string // random, minted with the data directory
	run         string // random, minted with each process
	stable      raft.StableStore

	mu      sync.Mutex
	cluster string // "" where none is known; set once; guarded by mu
	removed bool   // this node is no longer a member; guarded by mu

	// claim marks the state machine's side as the cluster's, or refuses; nil
	// where it needs no mark.
	claim func(cluster string) error
}

func loadIdentity(node string, stable raft.StableStore) (*identity, error) {
	if err := checkFormat(stable); err != nil {
		return nil, err
	}
	id := &identity{node: node, run: uuid.NewString(), stable: stable}
	switch owner, err := stableGet(stable, keyNode); {
	case err != nil:
		return nil, err
	case owner == "":
		if err := stable.Set(keyNode, []byte(node)); err != nil {
			return nil, fmt.Errorf("keep the node id: %w", err)
		}
	case owner != node:
		return nil, fmt.Errorf("%w: the data directory is that of node %s, but this is node %s: give each node a directory of its own", ErrForeign, owner, node)
	}
	incarnation, err := stableGet(stable, keyIncarnation)
	if err != nil {
		return nil, err
	}
	if incarnation == "" {
		incarnation = uuid.NewString()
		if err := stable.Set(keyIncarnation, []byte(incarnation)); err != nil {
			return nil, fmt.Errorf("keep the incarnation: %w", err)
		}
	}
	id.incarnation = incarnation
	if id.cluster, err = stableGet(stable, keyClusterID); err != nil {
		return nil, err
	}
	return id, nil
}

// checkFormat refuses a directory that a newer version wrote.
func checkFormat(stable raft.StableStore) error {
	switch format, err := stable.GetUint64(keyFormat); {
	case err != nil && !raftlog.Absent(err):
		return fmt.Errorf("read the format: %w", err)
	case format > storesFormat:
		return fmt.Errorf("%w: the log was written by a newer version (format %d; this one reads up to %d): start the newer version, or choose another data directory", ErrForeign, format, storesFormat)
	case format == storesFormat:
		return nil
	}
	if err := stable.SetUint64(keyFormat, storesFormat); err != nil {
		return fmt.Errorf("keep the format: %w", err)
	}
	return nil
}

// stableGet reads a string; "" where there is none.
func stableGet(s raft.StableStore, key []byte) (string, error) {
	v, err := s.Get(key)
	// The stores have no common sentinel; raft itself compares this text.
	if err != nil && err.Error() != "not found" {
		return "", fmt.Errorf("read %s: %w", key, err)
	}
	return string(v), nil
}

func (id *identity) clusterID() string {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.cluster
}

// adopt makes this node a part of a cluster, durably and once for all.
func (id *identity) adopt(cluster string) error {
	id.mu.Lock()
	defer id.mu.Unlock()
	if id.cluster == cluster {
		return nil
	}
	if id.cluster != "" {
		return fmt.Errorf("this node belongs to cluster %s, not to %s", id.cluster, cluster)
	}
	if id.claim != nil {
		if err := id.claim(cluster); err != nil {
			return err
		}
	}
	if err := id.stable.Set(keyClusterID, []byte(cluster)); err != nil {
		return fmt.Errorf("keep the cluster id: %w", err)
	}
	id.cluster = cluster
	return nil
}

func (id *identity) isRemoved() bool {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.removed
}

// setRemoved notes that this node was removed; it tells whether that is news.
func (id *identity) setRemoved() bool {
	id.mu.Lock()
	defer id.mu.Unlock()
	news := !id.removed
	id.removed = true
	return news
}
