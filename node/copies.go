package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dormouse/backup/schedule"
	"dormouse/cluster"
	"dormouse/fsm"
	"dormouse/storage"
)

// Rehearse implements schedule.Source.
func (s backupSource) Rehearse(ctx context.Context, stream io.Reader, bytes int64) (hash string, err error) {
	r := rehearsal{room: func() (int64, error) { return cluster.DiskRoom(s.node.group) }}
	if !s.node.o.Config.Node.Ephemeral {
		r.within = s.node.o.Config.Node.DataDir
	}
	err = r.run(stream, bytes, func(replica *fsm.Replica) error {
		hash, err = stateHash(ctx, replica)
		return err
	})
	return hash, err
}

// rehearsalMemoryMax is the size of the largest state that is restored in memory, to verify a
// backup. A larger one is restored in a temporary directory.
const rehearsalMemoryMax = 64 << 20

// rehearsalCaches are those of a state that is restored and read once. They come on top of the node's own, whose sum
// storage.memory bounds.
var rehearsalCaches = fsm.Caches{Engine: 8 << 20, MemTable: 1 << 20, ApplyRows: 64 << 10, ReadRows: 64 << 10, Indexes: 64 << 10}

// rehearsal is how a node restores a state apart from its own.
type rehearsal struct {
	within string                // directory for states that are too large for memory; "" means memory in any case
	room   func() (int64, error) // returns how many bytes may be written to its disk
}

// run restores a snapshot stream of about that size, calls use, and removes the state. The error wraps
// schedule.ErrNoRoom if the disk has no room for the state.
func (h rehearsal) run(stream io.Reader, bytes int64, use func(r *fsm.Replica) error) (err error) {
	fs, dir := storage.MemFS(), "state"
	if bytes > rehearsalMemoryMax && h.within != "" {
		stream = &roomReader{r: stream, left: bytes, room: h.room}
		made, err := os.MkdirTemp(h.within, rehearsalPrefix)
		if err != nil {
			return err
		}
		defer os.RemoveAll(made) //nolint:errcheck // the next start removes it
		fs, dir = storage.Disk, filepath.Join(made, "state")
	}
	r, err := fsm.OpenReplica(fs, dir, rehearsalCaches, stream)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return use(r)
}

// roomEvery is the number of bytes after which a roomReader asks for the room again.
const roomEvery = 4 << 20

// roomReader reads what is written to a disk. Its error wraps schedule.ErrNoRoom once there is no room for the rest.
type roomReader struct {
	r    io.Reader
	left int64                 // bytes that are still expected
	next int64                 // bytes until the room is asked for
	room func() (int64, error) // returns how many bytes may be written
}

// Read implements io.Reader.
func (r *roomReader) Read(p []byte) (int, error) {
	if r.next <= 0 {
		room, err := r.room()
		if err != nil {
			return 0, err
		}
		if needed := max(r.left, roomEvery); room < needed {
			return 0, fmt.Errorf("%w: its copy needs %d more bytes under the data directory, and there is room for %d beside the disk reserve: free some, or give the node a larger disk", schedule.ErrNoRoom, needed, max(room, 0))
		}
		r.next = roomEvery
	}
	n, err := r.r.Read(p[:min(int64(len(p)), r.next)])
	r.left, r.next = r.left-int64(n), r.next-int64(n)
	return n, err
}

// rehearsalPrefix begins the names of temporary directories, which a start of the node removes.
const rehearsalPrefix = "rehearsal-"

func stateHash(ctx context.Context, r *fsm.Replica) (string, error) {
	view := r.View()
	defer view.Close()
	return view.StateHash(ctx)
}

// The copies of a state that a process makes in a data directory, beside recoveryTemp and those of rehearsals. It removes
// them, unless it crashes.
const (
	restoreTemp = "restore.tmp" // of RestorePoint
	backupTemp  = "backup.tmp"  // of BackupOffline
)

// removeLeftovers removes the copies of a state that crashes have left in a data directory. The directory has no
// recovery that has not finished. Copies of a process that still runs stay.
func removeLeftovers(fs storage.FS, dir string) error {
	if fs == nil {
		fs = storage.Disk
	}
	left, err := filepath.Glob(filepath.Join(dir, rehearsalPrefix+"*"))
	if err != nil {
		return err
	}
	left = append(left, filepath.Join(dir, recoveryTemp), filepath.Join(dir, backupTemp))
	restore := filepath.Join(dir, restoreTemp)
	return errors.Join(
		removeUnlocked(fs, filepath.Join(dir, "state"), left...), // a node, a recovery and a backup lock it
		removeUnlocked(storage.Disk, filepath.Join(restore, "state"), restore),
	)
}

// removeUnlocked removes directories, unless the directory locked exists and cannot be locked.
func removeUnlocked(fs storage.FS, locked string, dirs ...string) error {
	lock, err := storage.Lock(fs, locked)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil // what uses the directory next says what is wrong with it
	}
	err = nil
	for _, dir := range dirs {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if lock != nil {
		err = errors.Join(err, lock.Close())
	}
	return err
}
