package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"dormouse/cluster"
	"dormouse/cluster/keys"
	"dormouse/cluster/raftlog"
	"dormouse/config"
	"dormouse/fsm"
)

// Restore makes c's empty data directory the one node of a new cluster, with the state of a backup.
// No process may use the directory. Other nodes join the new cluster with empty directories. If the
// state cannot be restored, or ctx ends, no data of a node stays in the directory.
func Restore(ctx context.Context, c config.Config, backup string) (done Restored, err error) {
	if err := unused(c.Node.DataDir); err != nil {
		return done, err
	}
	file, err := os.Open(backup)
	if err != nil {
		return done, fault("open the backup", err, codeFailed)
	}
	defer file.Close() //nolint:errcheck // it is only read
	// Refuse an incomplete backup before anything is written.
	info, err := fsm.Inspect(contextReader{ctx, file})
	if err != nil {
		return done, fault("read the backup", err, codeFailed)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return done, fault("read the backup again", err, codeFailed)
	}
	if err := makeDataDir(c.Node.DataDir); err != nil {
		return done, fault("make the data directory", err, codeDisk)
	}
	done = Restored{ClusterID: info.ClusterID, Backup: backup, Index: info.Index, Time: info.WallMS}
	done.NewCluster, err = foundFrom(ctx, c, file)
	return done, err
}

// unused refuses a data directory that holds data of a node.
func unused(dir string) error {
	if err := unfinishedRecovery(dir); err != nil {
		return fault("open the data directory", err, codeDamaged)
	}
	for _, part := range []string{"raft", "state"} {
		switch names, err := os.ReadDir(filepath.Join(dir, part)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fault("look for a node's data", err, codeDisk)
		case len(names) > 0:
			return &ExitError{codeForeignData, fmt.Errorf("%s holds a node's data already: restore into an empty directory", dir)}
		}
	}
	return nil
}

// foundFrom makes c's unused data directory the one node of a new cluster, with the state of a
// snapshot stream. It returns the cluster's id. If it fails, or ctx ends, it removes the log and the
// state, unless another process has made them.
func foundFrom(ctx context.Context, c config.Config, state io.Reader) (id string, err error) {
	raft, rows := dir(c, "raft"), dir(c, "state")
	if err := unused(c.Node.DataDir); err != nil { // what another process has made since must stay
		return "", err
	}
	defer func() {
		others := errors.Is(err, raftlog.ErrForeign) || errors.Is(err, raftlog.ErrLocked)
		if err != nil && !others {
			err = errors.Join(err, os.RemoveAll(raft), os.RemoveAll(rows))
		}
	}()
	id = uuid.NewString()
	// The log is created first; this fails if the directory has one. A crash before the state is
	// restored leaves a node without state: empty its directory and restore again.
	voter, err := cluster.FoundRestored(cluster.Restored{
		Dir: raft, LogStore: c.Raft.LogStore, NodeID: c.Node.ID, Addr: c.Raft.Advertise, ClusterID: id,
	})
	if err != nil {
		return "", fault("found the new cluster", err, codeForeignData)
	}
	if _, err = fsm.RestoreBackup(contextReader{ctx, state}, fsm.RestoreOptions{Dir: rows, ClusterID: id, Voter: voter}); err != nil {
		return "", fault("restore the backup", err, codeFailed)
	}
	return id, fault("write a cluster key", makeClusterKey(c), codeDisk)
}

// contextReader reads from r until ctx ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // of one call
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// makeClusterKey makes a key for a new cluster, unless the configuration names one or the directory
// has one. With a new key, nodes of the old cluster fail the handshake.
func makeClusterKey(c config.Config) error {
	path := filepath.Join(c.Node.DataDir, clusterKeyFile)
	if c.Cluster.KeyFile != "" {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return keys.WriteFile(path, keys.Ring{keys.New()}.Encode())
}
