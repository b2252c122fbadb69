package testbed

import (
	"fmt"
	"path/filepath"

	"dormouse/cluster/keys"
)

// Files in the testbed's directory.
const (
	clusterKeyFile = "cluster.key" // of all nodes
	hostKeyFile    = "host.key"    // of all programs
)

// keyPath returns the path of a key file.
func (b *Bed) keyPath(name string) string { return filepath.Join(b.options.Dir, name) }

// writeKeys makes the keys of a new cluster.
func (b *Bed) writeKeys() error {
	key := keys.New()
	if err := keys.WriteFile(b.keyPath(clusterKeyFile), key.Encode()); err != nil {
		return fmt.Errorf("testbed: write the cluster key: %w", err)
	}
	if err := keys.WriteFile(b.keyPath(hostKeyFile), key.Host().Encode()); err != nil {
		return fmt.Errorf("testbed: write the host key: %w", err)
	}
	return nil
}
