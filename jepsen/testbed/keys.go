package testbed

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"

	"dormouse/access"
	"dormouse/cluster/keys"
)

// Files in the testbed's directory.
const (
	clusterKeyFile = "cluster.key" // of all nodes
	hostKeyFile    = "host.key"    // of all programs
	rootTokenFile  = "root.token"  // with which the harness calls the nodes
	authorityFile  = "ca.pem"      // for programs, if the nodes serve TLS
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
	authority, err := key.Authority()
	if err != nil {
		return fmt.Errorf("testbed: %w", err)
	}
	b.authority = authority.Pool()
	if err := os.WriteFile(b.keyPath(authorityFile), authority.PEM(), 0o600); err != nil {
		return fmt.Errorf("testbed: write the authority: %w", err)
	}
	b.token = access.NewSecret()
	if err := access.WriteSecretFile(b.keyPath(rootTokenFile), b.token); err != nil {
		return fmt.Errorf("testbed: write the root token: %w", err)
	}
	return nil
}

// Token returns the root token of the cluster.
func (b *Bed) Token() string { return b.token }

// TLS returns the TLS configuration of clients; nil if the nodes share loopback, where
// they serve none.
func (b *Bed) TLS() *tls.Config {
	if b.net == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: b.authority}
}
