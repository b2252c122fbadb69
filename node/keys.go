package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	"dormouse/config"
)

// Files of the data directory with secrets, and with what follows from them.
const (
	clusterKeyFile = "cluster.key"
	hostKeyFile    = "host.key" // for host processes
	authorityFile  = "ca.pem"   // for clients, where the node's certificates are the cluster's own
)

// enrolTimeout bounds how long a starting node asks for the cluster key.
const enrolTimeout = 30 * time.Second

// secrets has the cluster key of a node and what follows from it.
type secrets struct {
	config      config.Config
	network     transport.Network // between nodes; nil means TCP, with TLS if configured
	logger      hclog.Logger
	ring        keys.Ring
	authorities []*keys.Authority // of the keys; the first one issues this node's certificates
}

// openSecrets finds the cluster key, and writes what others need of it. The data directory exists.
func openSecrets(ctx context.Context, o Options, logger hclog.Logger) (*secrets, error) {
	s := &secrets{config: o.Config, network: o.Network, logger: logger, ring: o.Keys}
	if s.ring == nil {
		var err error
		if s.ring, err = s.find(ctx); err != nil {
			return nil, fault("find the cluster key", err, codeConfig)
		}
	}
	var err error
	if s.authorities, err = s.ring.Authorities(); err != nil {
		return nil, fault("make the cluster's certificate authority", err, codeFailed)
	}
	c := s.config
	if c.Node.Ephemeral {
		return s, nil
	}
	err = keys.WriteFile(filepath.Join(c.Node.DataDir, hostKeyFile), s.ring.Current().Host().Encode()+"\n")
	if c.Issued(c.HTTP.Listen()) || c.Issued(c.GRPC) || c.Redis.Addr != "" && c.Issued(c.RedisListen()) {
		var all []byte
		for _, a := range s.authorities {
			all = append(all, a.PEM()...)
		}
		err = errors.Join(err, renameio.WriteFile(filepath.Join(c.Node.DataDir, authorityFile), all, 0o600))
	}
	return s, fault("write the data directory", err, codeDisk)
}

// find returns the cluster keys from the first source that is configured: the key file, the data
// directory, or a join token. A node that may found a cluster by itself makes a key.
func (s *secrets) find(ctx context.Context) (keys.Ring, error) {
	c := s.config
	if c.Cluster.KeyFile != "" {
		return keys.ReadRing(c.Cluster.KeyFile)
	}
	kept := filepath.Join(c.Node.DataDir, clusterKeyFile)
	if !c.Node.Ephemeral {
		if ring, err := keys.ReadRing(kept); err == nil || !keys.Missing(err) {
			return ring, err
		}
	}
	ring, err := s.obtain(ctx)
	if err != nil || c.Node.Ephemeral {
		return ring, err
	}
	return ring, keys.WriteFile(kept, ring.Encode())
}

// obtain returns the keys of a node that has none.
func (s *secrets) obtain(ctx context.Context) (keys.Ring, error) {
	c := s.config
	switch {
	case c.Cluster.JoinTokenFile != "":
		return s.enrol(ctx)
	case c.Cluster.Bootstrap || c.Cluster.Expect == 1:
		return keys.Ring{keys.New()}, nil
	}
	return nil, errors.New("this node has no cluster key: create one with \"dormctl cluster-key > cluster.key\" and give all nodes --cluster-key-file cluster.key; to join a running cluster, use --join-token-file with a token of \"dormctl join-token create\"")
}

// joinToken returns the join token of the configuration; false if it names none.
func joinToken(c config.Config) (token keys.Token, ok bool, err error) {
	if c.Cluster.JoinTokenFile == "" {
		return keys.Token{}, false, nil
	}
	text, err := keys.ReadFile(c.Cluster.JoinTokenFile)
	if err == nil {
		token, err = keys.ParseToken(text)
	}
	if err != nil {
		return keys.Token{}, false, fmt.Errorf("cluster.join_token_file: %w", err)
	}
	return token, true, nil
}

// enrol gets the cluster keys with the join token.
func (s *secrets) enrol(ctx context.Context) (keys.Ring, error) {
	token, _, err := joinToken(s.config)
	if err != nil {
		return nil, err
	}
	network, err := s.enrolNetwork()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, enrolTimeout)
	defer cancel()
	ring, err := transport.Enrol(ctx, network, s.config.Node.ID, token)
	if err != nil {
		return nil, err
	}
	s.logger.Info("received the cluster key", "key", ring.Current().ID(), "with", token.String())
	return ring, nil
}

// gossip returns the keys of gossip, the one that encrypts first: that of the key file, or those that
// follow from the cluster keys.
func (s *secrets) gossip() ([][]byte, error) {
	if path := s.config.Gossip.KeyFile; path != "" {
		key, err := gossipKey(path)
		return [][]byte{key}, err
	}
	var all [][]byte
	for _, key := range s.ring {
		all = append(all, key.Gossip())
	}
	return all, nil
}
