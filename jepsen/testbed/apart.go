package testbed

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// BackupURL returns the destination of the nodes' backups.
func (b *Bed) BackupURL() string { return "file://" + filepath.Join(b.options.Dir, "backups") }

// RestoreArgs returns the arguments of dormoused restore that restore the cluster at a
// log index for a host's node, into a directory of the host.
func (h *Host) RestoreArgs(index uint64) (dir string, args []string) {
	dir = filepath.Join(h.dir, "restored")
	return dir, []string{
		"restore", "--from", h.bed.BackupURL(), "--at", fmt.Sprint(index), "--trust-key-file", h.bed.keyPath(clusterKeyFile),
		"--cluster-key-file", h.bed.keyPath(clusterKeyFile), "--data-dir", dir, "--node-id", h.Node(),
		"--http-addr", h.HTTP(), "--grpc-addr", h.GRPC(), "--raft-addr", h.Raft(), "--gossip-addr", h.Gossip(),
	}
}

// RecoverArgs copies the data of a killed node to a spare host, which takes the node's id, and
// returns the arguments of dormoused recover that make a cluster of one of the copy. The error
// is os.ErrNotExist if the node has no log.
func RecoverArgs(of, spare *Host) (dir string, args []string, err error) {
	if _, err := os.Stat(filepath.Join(of.DataDir(), "raft")); err != nil {
		return "", nil, err
	}
	b := spare.bed
	spare.Rename(of.Node())
	dir = filepath.Join(spare.dir, "recovered")
	if err := copyPrivately(dir, of.DataDir()); err != nil {
		return "", nil, fmt.Errorf("copy the data of %s: %w", of.name, err)
	}
	return dir, []string{
		"recover", "--force-new-cluster", "--accept-loss", "--cluster-key-file", b.keyPath(clusterKeyFile), "--data-dir", dir, "--node-id", spare.Node(),
		"--http-addr", spare.HTTP(), "--grpc-addr", spare.GRPC(), "--raft-addr", spare.Raft(), "--gossip-addr", spare.Gossip(),
	}, nil
}

// copyPrivately copies a directory to a new one that only this user may read: a node refuses others.
func copyPrivately(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, 0o700)
		default:
			return os.Chmod(path, 0o600)
		}
	})
}

// Apart makes Start start a node that is a cluster of its own on a restored directory.
func (h *Host) Apart(dir string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.apart = dir
}

// Discard removes the data of a killed node that was started apart.
func (h *Host) Discard() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return os.RemoveAll(h.apart)
}
