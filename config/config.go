// Package config turns a file, the environment and the command line into one
// validated value.
//
// Each source outdoes the one before it: defaults, the YAML file, environment
// variables named DORMOUSE_SECTION__KEY, flags. A key that no setting has is an
// error that names the nearest one, wherever it comes from. What Load returns
// is complete and valid: nothing after it needs a default or a check.
//
// Only the daemon and package node see a Config; node translates it into the
// options of each part.
package config

import "time"

// Config is every setting of a node.
type Config struct {
	Node      Node      `yaml:"node"`
	HTTP      Listen    `yaml:"http"`
	GRPC      Listen    `yaml:"grpc"`
	Raft      Raft      `yaml:"raft"`
	Gossip    Gossip    `yaml:"gossip"`
	Cluster   Cluster   `yaml:"cluster"`
	Placement Placement `yaml:"placement"`
	Instances Instances `yaml:"instances"`
	Storage   Storage   `yaml:"storage"`
	Limits    Limits    `yaml:"limits"`
	Log       Log       `yaml:"log"`
}

// Node is what concerns the process as a whole.
type Node struct {
	ID          string        `yaml:"id"`           // the operator's name for it, unique in the cluster; one that left is free for a node with an empty data directory
	DataDir     string        `yaml:"data_dir"`     // where it keeps its data; ./dormouse-data where none is given and it is not ephemeral
	Dev         bool          `yaml:"dev"`          // one node that founds its own cluster
	Ephemeral   bool          `yaml:"ephemeral"`    // nothing on disk: all is lost when it stops
	Insecure    bool          `yaml:"insecure"`     // may listen off loopback without TLS
	StopTimeout time.Duration `yaml:"stop_timeout"` // an orderly stop takes at most so long
}

// Listen is one address that the node serves on.
type Listen struct {
	Addr      string `yaml:"addr"`      // host:port; no host means every interface
	Advertise string `yaml:"advertise"` // where others reach it; addr where none is given
	CertFile  string `yaml:"cert_file"` // PEM; "" means no TLS
	KeyFile   string `yaml:"key_file"`  // PEM; the certificate's private key
	CAFile    string `yaml:"ca_file"`   // PEM; whose certificates peers and clients must have; "" means that none is asked for
}

// TLS reports whether the address is served with TLS.
func (l Listen) TLS() bool { return l.CertFile != "" }

// Raft is the stream between nodes and the log.
type Raft struct {
	Addr         string `yaml:"addr"`          // host:port; no host means every interface
	Advertise    string `yaml:"advertise"`     // where other nodes reach it; addr where none is given
	CertFile     string `yaml:"cert_file"`     // PEM; "" means no TLS
	KeyFile      string `yaml:"key_file"`      // PEM; the certificate's private key
	CAFile       string `yaml:"ca_file"`       // PEM; whose certificates other nodes must have; "" means that none is asked for
	LogStore     string `yaml:"log_store"`     // wal or bolt
	ReadBarrier  string `yaml:"read_barrier"`  // how a linearizable read learns that its leader still leads: index (the voters are asked) or log (an entry is written)
	AcceptDamage bool   `yaml:"accept_damage"` // start, and vote, although the log ends below what this node has acknowledged

	SnapshotBytes   int64 `yaml:"snapshot_bytes"`   // a snapshot is due after so many bytes of log
	SnapshotEntries int64 `yaml:"snapshot_entries"` // …or after so many entries, which a restart replays
	TrailingBytes   int64 `yaml:"trailing_bytes"`   // bytes of log that stay behind a snapshot, for followers that lag
	TrailingEntries int64 `yaml:"trailing_entries"` // …in so many entries at most
}

// Listen is the address of the stream between nodes.
func (r Raft) Listen() Listen {
	return Listen{Addr: r.Addr, Advertise: r.Advertise, CertFile: r.CertFile, KeyFile: r.KeyFile, CAFile: r.CAFile}
}

// Gossip is how nodes find each other and notice failures.
type Gossip struct {
	Addr      string `yaml:"addr"`      // host:port, TCP and UDP
	Advertise string `yaml:"advertise"` // where other nodes reach it; addr where none is given
	KeyFile   string `yaml:"key_file"`  // base64 of 16, 24 or 32 bytes, the same on every node; "" means in the clear
}

// Cluster is how the node comes to a cluster. It is ignored once the data
// directory holds one.
type Cluster struct {
	Bootstrap bool     `yaml:"bootstrap"` // found a cluster once every address of join has answered that it belongs to none
	Expect    int      `yaml:"expect"`    // found a cluster once so many nodes have met and none belongs to one; 0 means never
	Join      []string `yaml:"join"`      // Raft addresses of the nodes; this node's own may be among them
	Timing    string   `yaml:"timing"`    // default, or lan: elections within a second where the network is good
}

// Placement is this node's part in keeping live instances.
type Placement struct {
	Lease  time.Duration `yaml:"lease"`  // it owns its partitions for so long after it was last heard from; 0: it keeps no instances
	Zone   string        `yaml:"zone"`   // where it stands, such as a data center; for people
	Weight int           `yaml:"weight"` // its share of the partitions, relative to the other nodes': 1 to 10,000
}

// Instances is what this node gives live instances.
type Instances struct {
	AwakeMax  int      `yaml:"awake_max"`  // awake at once, past which the least recently used hibernate; 0 means 200,000
	HTTPAllow []string `yaml:"http_allow"` // hosts that HTTP handlers may be on, with a port where it is not the scheme's
	Keys      []string `yaml:"keys"`       // name=file of each secret that requests to HTTP handlers are signed with
}

// Storage is the engine under the state machine.
type Storage struct {
	CacheBytes int64 `yaml:"cache_bytes"` // memory of the engine, for what waits for a flush and for blocks that were read
}

// Limits is what the node keeps clear of on its own account. What bounds
// requests is a constant; what bounds a scope is replicated.
type Limits struct {
	DiskReserveBytes int64 `yaml:"disk_reserve_bytes"` // writes are refused while the disk has less than this free; 0 sizes it by the disk, from 16 to 256 MiB
}

// Log is what the node tells about itself.
type Log struct {
	Level  string `yaml:"level"`  // trace, debug, info, warn or error
	Format string `yaml:"format"` // text or json
}

// Default is the configuration that a node starts from.
func Default() Config {
	return Config{
		Node: Node{StopTimeout: 20 * time.Second},
		HTTP: Listen{Addr: "127.0.0.1:7600"},
		GRPC: Listen{Addr: "127.0.0.1:7601"},
		Raft: Raft{
			Addr: "127.0.0.1:7602", LogStore: "wal", ReadBarrier: "index",
			SnapshotBytes: 256 << 20, SnapshotEntries: 100_000, TrailingBytes: 64 << 20, TrailingEntries: 100_000,
		},
		Gossip:    Gossip{Addr: "127.0.0.1:7603"},
		Cluster:   Cluster{Join: []string{}, Timing: "default"},
		Placement: Placement{Lease: 5 * time.Second, Weight: 100},
		Instances: Instances{HTTPAllow: []string{}, Keys: []string{}},
		Storage:   Storage{CacheBytes: 128 << 20},
		Log:       Log{Level: "info", Format: "text"},
	}
}

// dataDirDefault is where a node keeps its data unless told otherwise.
const dataDirDefault = "./dormouse-data"

// Resolve fills in what follows from other settings. Load does, and so does
// node.Open, for programs that make a Config by themselves.
func (c *Config) Resolve() {
	if c.Node.Dev {
		c.Cluster.Bootstrap = true
		if c.Node.ID == "" {
			c.Node.ID = "dev"
		}
	}
	if c.Node.DataDir == "" && !c.Node.Ephemeral {
		c.Node.DataDir = dataDirDefault
	}
	if c.Cluster.Join == nil {
		c.Cluster.Join = []string{}
	}
	for _, a := range []struct {
		addr      string
		advertise *string
	}{
		{c.HTTP.Addr, &c.HTTP.Advertise},
		{c.GRPC.Addr, &c.GRPC.Advertise},
		{c.Raft.Addr, &c.Raft.Advertise},
		{c.Gossip.Addr, &c.Gossip.Advertise},
	} {
		if _, port, err := splitAddr(a.addr); *a.advertise == "" && !unspecified(a.addr) && (err != nil || port != 0) {
			*a.advertise = a.addr // others may dial just this
		}
	}
}
