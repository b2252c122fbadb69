package node

import (
	"context"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"dormouse/internal/durable"
)

// BackupOffline writes a backup of the data directory of a node that does not run to the file out. It
// holds all entries of the node's log; the last ones may not be committed. Nothing of the directory
// changes.
func BackupOffline(ctx context.Context, dir, out string) (Survivor, error) {
	scratch := filepath.Join(dir, backupTemp) // beside the state: its files are linked
	if err := os.RemoveAll(scratch); err != nil {
		return Survivor{}, fault("remove what an earlier backup left", err, codeDisk)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // the next backup removes it
	o, err := openOffline(ctx, dir, scratch)
	if err != nil {
		return Survivor{}, fault("read "+dir, err, codeFailed)
	}
	defer o.close() //nolint:errcheck // it was only read
	file, err := renameio.NewPendingFile(out, renameio.WithPermissions(0o600))
	if err != nil {
		return Survivor{}, fault("make the backup's file", err, codeFailed)
	}
	defer file.Cleanup() //nolint:errcheck // does nothing once the file is in its place
	if err := o.machine.WriteBackup(contextWriter{ctx, file}); err != nil {
		return Survivor{}, fault("write the backup", err, codeFailed)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return Survivor{}, fault("write the backup", err, codeFailed)
	}
	return o.Survivor, fault("write the backup", durable.SyncDir(filepath.Dir(out)), codeFailed)
}
