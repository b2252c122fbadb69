package node

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"dormouse/cluster"
	"dormouse/cluster/keys"
	"dormouse/config"
	"dormouse/fsm"
)

// Restore makes c's empty data directory the one node of a new cluster, with the state of a backup.
// No process may use the directory. Other nodes join the new cluster with empty directories.
func Restore(_ context.Context, c config.Config, backup string) (err error) {
	if err := unfinishedRecovery(c.Node.DataDir); err != nil {
		return fault("open the data directory", err, codeDamaged)
	}
	file, err := os.Open(backup)
	if err != nil {
		return fault("open the backup", err, codeFailed)
	}
	defer file.Close() //nolint:errcheck // it is only read
	// Refuse an incomplete backup before anything is written.
	if _, err := fsm.Inspect(file); err != nil {
		return fault("read the backup", err, codeFailed)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fault("read the backup again", err, codeFailed)
	}
	if err := os.MkdirAll(c.Node.DataDir, 0o700); err != nil {
		return fault("make the data directory", err, codeDisk)
	}
	_, err = foundFrom(c, file)
	return err
}

// foundFrom makes c's empty data directory the one node of a new cluster, with the state of a
// snapshot stream. It returns the cluster's id.
func foundFrom(c config.Config, state io.Reader) (id string, err error) {
	id = uuid.NewString()
	// The log is created first; this fails if the directory has one. A crash before the state is
	// restored leaves a node without state: empty its directory and restore again.
	voter, err := cluster.FoundRestored(cluster.Restored{
		Dir: dir(c, "raft"), LogStore: c.Raft.LogStore, NodeID: c.Node.ID, Addr: c.Raft.Advertise, ClusterID: id,
	})
	if err != nil {
		return "", fault("found the new cluster", err, codeForeignData)
	}
	if _, err = fsm.RestoreBackup(state, fsm.RestoreOptions{Dir: dir(c, "state"), ClusterID: id, Voter: voter}); err != nil {
		return "", fault("restore the backup", err, codeFailed)
	}
	return id, fault("write a cluster key", makeClusterKey(c), codeDisk)
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
