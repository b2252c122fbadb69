package node

import (
	"context"
	"io"
	"os"

	"github.com/google/uuid"

	"dormouse/cluster"
	"dormouse/config"
	"dormouse/fsm"
)

// Restore makes c's empty data directory the one node of a new cluster, with
// the state of a backup. Nothing may run on the directory. Other nodes join
// the new cluster with empty directories.
func Restore(_ context.Context, c config.Config, backup string) error {
	file, err := os.Open(backup)
	if err != nil {
		return fault("open the backup", err, codeFailed)
	}
	defer file.Close() //nolint:errcheck // it is only read
	// A backup that is not whole is refused before anything is made of it.
	if _, err := fsm.Inspect(file); err != nil {
		return fault("read the backup", err, codeFailed)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fault("read the backup again", err, codeFailed)
	}
	if err := os.MkdirAll(c.Node.DataDir, 0o700); err != nil {
		return fault("make the data directory", err, codeDisk)
	}
	id := uuid.NewString()
	// The log's side comes first and refuses a directory that holds one; a
	// crash in between leaves a node without state, which can be restored into
	// again after its directory is emptied.
	voter, err := cluster.FoundRestored(cluster.Restored{
		Dir: dir(c, "raft"), LogStore: c.Raft.LogStore, NodeID: c.Node.ID, Addr: c.Raft.Advertise, ClusterID: id,
	})
	if err != nil {
		return fault("found the new cluster", err, codeForeignData)
	}
	_, err = fsm.RestoreBackup(file, fsm.RestoreOptions{Dir: dir(c, "state"), ClusterID: id, Voter: voter})
	return fault("restore the backup", err, codeFailed)
}
