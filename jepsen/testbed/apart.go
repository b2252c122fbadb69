package testbed

import (
	"fmt"
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
