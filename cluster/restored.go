package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/membership"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
)

// Restored describes the first node of a restored cluster.
type Restored struct {
	Dir       string // Options.Dir of the node; must hold no cluster
	LogStore  string // Options.LogStore of the node
	NodeID    string
	Addr      string // that others will reach it at
	ClusterID string // of the new cluster
	Logger    hclog.Logger
}

// FoundRestored prepares the log's stores for a new cluster that begins with a
// restored state: an empty log, and the cluster's id. The caller makes the snapshot
// of the state, with the returned server as its only voter.
func FoundRestored(r Restored) (raft.Server, error) {
	server := membership.OneVoter(r.NodeID, r.Addr).Servers[0]
	s, err := raftlog.Open(raftlog.Options{Dir: r.Dir, Kind: r.LogStore, Fatal: func(error) {}, Logger: r.Logger})
	if err != nil {
		return server, fmt.Errorf("open the log: %w", err)
	}
	err = func() error {
		id, err := transport.LoadSelf(r.NodeID, s.Stable)
		if err != nil {
			return err
		}
		last, err := s.Logs.LastIndex()
		if err != nil {
			return fmt.Errorf("look for a log: %w", err)
		}
		if known := id.ClusterID(); known != "" || last > 0 {
			return fmt.Errorf("%w: %s holds a node's log already; restore into an empty directory", raftlog.ErrForeign, r.Dir)
		}
		return id.Adopt(r.ClusterID)
	}()
	return server, errors.Join(err, s.Close())
}
