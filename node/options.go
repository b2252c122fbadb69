package node

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"dormouse/cluster"
	"dormouse/cluster/gossip"
	"dormouse/cluster/keys"
	"dormouse/cluster/membership"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
	"dormouse/config"
	"dormouse/fsm"
	"dormouse/instance"
	"dormouse/storage"
)

// Options are a configuration and test replacements for the machine's network, disk and log.
type Options struct {
	Config config.Config

	Keys     keys.Ring                     // the cluster key; nil means from the configuration or the data directory
	Network  transport.Network             // between nodes; nil means TCP, with TLS if configured
	Servers  transport.Network             // for HTTP, gRPC and Redis; nil means TCP
	Gossip   gossip.Transport              // nil means UDP and TCP
	FS       storage.FS                    // of the state machine; nil means the disk, or memory if ephemeral
	LogFiles raftlog.Files                 // of the log of an ephemeral node, which then survives a restart; nil means memory
	Alone    bool                          // the process runs only this node: /metrics has the metrics of raft and memberlist, which exist once per process
	Handlers map[string]instance.GoHandler // for managers of kind go
	Spans    sdktrace.SpanExporter         // takes the spans of calls; nil means as configured
	Headless bool                          // serve neither HTTP nor gRPC: for tests that call Service
	Logger   hclog.Logger                  // nil means as configured, to standard error

	// RootToken is called with the cluster's first token, if this node creates it and the
	// configuration asks for credentials. nil means that a node prints it to standard error, or
	// writes it to the configured file.
	RootToken func(secret string)

	LogSegmentBytes int    // size of a log segment; 0 means the default for a disk: for tests of many nodes
	FeatureLevel    uint32 // the highest level that this node announces; 0 means featureLevelMax: for tests of an older build
}

// featureLevel returns the feature level that this node announces.
func (o Options) featureLevel() uint32 {
	if o.FeatureLevel == 0 {
		return featureLevelMax
	}
	return o.FeatureLevel
}

// featureLevelMax is the newest feature level that this build supports.
const featureLevelMax = fsm.FeatureLevelMax

// timing returns the election timing of this node's group.
func timing(c config.Config) cluster.Timing {
	if c.Node.Dev && len(c.Cluster.Join) == 0 {
		return cluster.AloneTiming()
	}
	t := config.TimingOf(c.Cluster.Timing)
	return cluster.Timing{
		Heartbeat: t.Heartbeat, Election: t.Election, Lease: t.LeaderLease, Round: t.Round,
		Failover: membership.FailoverTiming{Silence: t.Silence, Answer: t.Answer, Probe: t.Probe, Agree: t.Agree, Stand: t.Stand},
	}
}

func compaction(c config.Config) cluster.Compaction {
	return cluster.Compaction{
		SnapshotBytes: c.Raft.SnapshotBytes, SnapshotEntries: uint64(c.Raft.SnapshotEntries),
		TrailingBytes: c.Raft.TrailingBytes, TrailingEntries: uint64(c.Raft.TrailingEntries),
	}
}

// dir returns a directory of the node; "" if nothing is kept on disk.
func dir(c config.Config, name string) string {
	if c.Node.Ephemeral {
		return ""
	}
	return filepath.Join(c.Node.DataDir, name)
}

// logDir returns the directory of the log; "" if it is kept in memory.
func (o Options) logDir() string {
	if o.LogFiles != nil {
		return "raft"
	}
	return dir(o.Config, "raft")
}

// logTailBytes is how much of its log a node keeps in memory for operators.
const logTailBytes = 512 << 10

func newLogger(c config.Config, to io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "dormouse", Level: hclog.LevelFromString(c.Log.Level), JSONFormat: c.Log.Format == "json", Output: to, Exclude: newRepeats().exclude,
	}).With("node", c.Node.ID)
}

// gossipKey reads a key that encrypts gossip.
func gossipKey(path string) ([]byte, error) {
	text, err := keys.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load the gossip key: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("the gossip key in %s is not base64: %w", path, err)
	}
	if n := len(key); n != 16 && n != 24 && n != 32 {
		return nil, errors.New("the gossip key must have 16, 24 or 32 bytes")
	}
	return key, nil
}
