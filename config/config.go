// Package config loads a file, the environment and the command line into one validated value.
//
// Later sources override earlier ones: defaults, the YAML file, environment variables named
// DORMOUSE_SECTION__KEY, flags. An unknown key in any source is an error that names the nearest
// setting. The result of Load is complete and valid: later code needs no defaults and no checks.
//
// Only the daemon and package node use a Config; node translates it into the options of each part.
package config

import (
	"time"

	"dormouse/internal/hostcheck"
)

// Config holds all settings of a node.
type Config struct {
	Node      Node      `yaml:"node"`
	HTTP      HTTP      `yaml:"http"`
	GRPC      Listen    `yaml:"grpc"`
	Redis     Redis     `yaml:"redis"`
	Raft      Raft      `yaml:"raft"`
	Gossip    Gossip    `yaml:"gossip"`
	Cluster   Cluster   `yaml:"cluster"`
	Auth      Auth      `yaml:"auth"`
	Audit     Audit     `yaml:"audit"`
	Placement Placement `yaml:"placement"`
	Instances Instances `yaml:"instances"`
	Storage   Storage   `yaml:"storage"`
	Backup    Backup    `yaml:"backup"`
	Limits    Limits    `yaml:"limits"`
	Log       Log       `yaml:"log"`
	Tracing   Tracing   `yaml:"tracing"`
}

// Node has the settings of the whole process.
type Node struct {
	ID          string        `yaml:"id"`           // the node's name, unique in the cluster; the name of a node that left can be reused by a node with an empty data directory
	DataDir     string        `yaml:"data_dir"`     // directory of its data; ./dormouse-data if not set and not ephemeral
	Dev         bool          `yaml:"dev"`          // one node that founds its own cluster
	Ephemeral   bool          `yaml:"ephemeral"`    // nothing on disk: all data is lost when it stops
	Insecure    bool          `yaml:"insecure"`     // may listen on other addresses than loopback without TLS, and asks for no credentials unless auth.mode says otherwise
	StopTimeout time.Duration `yaml:"stop_timeout"` // longest duration of an orderly stop; open calls have at most half of it, so that a leader can hand over leadership
}

// Listen is one address that the node serves on.
type Listen struct {
	Addr      string `yaml:"addr"`      // host:port; no host means every interface
	Advertise string `yaml:"advertise"` // the address for clients and other nodes; addr if not set
	CertFile  string `yaml:"cert_file"` // PEM; "" means a certificate that the node issues off loopback
	KeyFile   string `yaml:"key_file"`  // PEM; the certificate's private key
	CAFile    string `yaml:"ca_file"`   // PEM; peers and clients must have a certificate of this CA; "" means that none is required
}

// TLS reports whether the address is served with a certificate of a file.
func (l Listen) TLS() bool { return l.CertFile != "" }

// Issued reports whether l is served with a certificate that the node issues itself, by the
// cluster's own authority: off loopback, unless files or Insecure say otherwise.
func (c Config) Issued(l Listen) bool {
	return !l.TLS() && !c.Node.Insecure && !hostcheck.Loopback(l.Addr)
}

// HTTP has the settings of the HTTP API.
type HTTP struct {
	Addr      string   `yaml:"addr"`      // host:port; no host means every interface
	Advertise string   `yaml:"advertise"` // the address for clients and other nodes; addr if not set
	CertFile  string   `yaml:"cert_file"` // PEM; "" means a certificate that the node issues off loopback
	KeyFile   string   `yaml:"key_file"`  // PEM; the certificate's private key
	CAFile    string   `yaml:"ca_file"`   // PEM; clients must have a certificate of this CA; "" means that none is required
	Hosts     []string `yaml:"hosts"`     // further names that clients and proxies use for this node: its certificate has them, and requests for others are forbidden
	Origins   []string `yaml:"origins"`   // origins whose pages may call this node from a browser, such as https://app.example.com; none by default
	Compress  bool     `yaml:"compress"`  // compress answers for clients that accept it
	Console   bool     `yaml:"console"`   // serve the console's pages at / and below /ui; the pages of all nodes may then call this one
}

// Listen returns the address of the HTTP API.
func (h HTTP) Listen() Listen {
	return Listen{Addr: h.Addr, Advertise: h.Advertise, CertFile: h.CertFile, KeyFile: h.KeyFile, CAFile: h.CAFile}
}

// Redis has the settings of the server that speaks the protocol of Redis.
type Redis struct {
	Addr     string `yaml:"addr"`      // host:port, such as 127.0.0.1:7604; "" means that the node does not serve this protocol
	CertFile string `yaml:"cert_file"` // PEM; "" means a certificate that the node issues off loopback
	KeyFile  string `yaml:"key_file"`  // PEM; the certificate's private key
	CAFile   string `yaml:"ca_file"`   // PEM; clients must have a certificate of this CA; "" means that none is required
	Scope    string `yaml:"scope"`     // the scope of all keys; "" means the default scope
}

// RedisListen returns the address of the server that speaks the protocol of Redis. No other node dials
// it. A certificate that the node issues for it has the advertised name of the HTTP API.
func (c Config) RedisListen() Listen {
	r := c.Redis
	return Listen{Addr: r.Addr, Advertise: c.HTTP.Advertise, CertFile: r.CertFile, KeyFile: r.KeyFile, CAFile: r.CAFile}
}

// The values of Raft.Decide.
const (
	DecideLeader = "leader"
	DecideEach   = "each"
)

// The values of Raft.LeaderWrite.
const (
	LeaderWriteParallel = "parallel"
	LeaderWriteFirst    = "first"
)

// Raft has the settings of the connections between nodes and of the log.
type Raft struct {
	Addr         string `yaml:"addr"`          // host:port; no host means every interface
	Advertise    string `yaml:"advertise"`     // the address for other nodes; addr if not set
	CertFile     string `yaml:"cert_file"`     // PEM; "" means a certificate that the node issues off loopback
	KeyFile      string `yaml:"key_file"`      // PEM; the certificate's private key
	CAFile       string `yaml:"ca_file"`       // PEM; other nodes must have a certificate of this CA; "" means that none is required
	LogStore     string `yaml:"log_store"`     // wal or bolt
	ReadBarrier  string `yaml:"read_barrier"`  // how a linearizable read confirms the leader: index (asks the voters) or log (writes an entry)
	Decide       string `yaml:"decide"`        // who decides commits: the leader (its log entries hold what they write, where they can) or each node (entries hold the commits)
	LeaderWrite  string `yaml:"leader_write"`  // when a leader writes an entry to its own log: parallel (while it sends the entry) or first (before that)
	AcceptDamage bool   `yaml:"accept_damage"` // start, and vote, even if the log ends before entries that this node has acknowledged

	SnapshotBytes   int64 `yaml:"snapshot_bytes"`   // bytes of log after which a snapshot is taken
	SnapshotEntries int64 `yaml:"snapshot_entries"` // entries of log after which a snapshot is taken; a restart replays them
	TrailingBytes   int64 `yaml:"trailing_bytes"`   // bytes of log that are kept behind a snapshot, for slow followers
	TrailingEntries int64 `yaml:"trailing_entries"` // most entries of log that are kept behind a snapshot
	EntryCommits    int   `yaml:"entry_commits"`    // most commits that a leader packs into one entry of the log; fewer make each entry faster, and cost throughput
}

// Listen returns the address of the connections between nodes.
func (r Raft) Listen() Listen {
	return Listen{Addr: r.Addr, Advertise: r.Advertise, CertFile: r.CertFile, KeyFile: r.KeyFile, CAFile: r.CAFile}
}

// Gossip has the settings of gossip, with which nodes find each other and detect failures.
type Gossip struct {
	Addr      string `yaml:"addr"`      // host:port, TCP and UDP
	Advertise string `yaml:"advertise"` // the address for other nodes; addr if not set
	KeyFile   string `yaml:"key_file"`  // base64 of 16, 24 or 32 bytes, the same on every node; "" means a key that follows from the cluster key
}

// Cluster sets how the node joins or founds a cluster. It is ignored once the data directory
// belongs to one.
type Cluster struct {
	Bootstrap     bool          `yaml:"bootstrap"`       // found a cluster once every address of join has answered that it belongs to none
	Expect        int           `yaml:"expect"`          // number of nodes that must meet, none of which belongs to a cluster, to found one; 0 means never
	Join          []string      `yaml:"join"`            // Raft addresses of the nodes; this node's own may be among them
	Timing        string        `yaml:"timing"`          // lan, for round trips of a few milliseconds, or wan, for up to 300 ms: how long nodes wait before they believe that another is lost; the same on all nodes
	KeyFile       string        `yaml:"key_file"`        // the cluster key, the same on all nodes; "" means cluster.key in the data directory
	Voters        int           `yaml:"voters"`          // number of members that vote, odd; the others are spares, of which one replaces a dead voter; 0 means that all vote
	DeadAfter     time.Duration `yaml:"dead_after"`      // with voters: how long a voter may not answer before a spare replaces it
	JoinTokenFile string        `yaml:"join_token_file"` // a join token, with which a node without a cluster key receives it
}

// Auth sets which credentials the node asks for, over HTTP, gRPC and the protocol of Redis. It should be the same on all
// nodes.
type Auth struct {
	Mode          string `yaml:"mode"`            // tokens, or off; "" means off for a --dev node on loopback and with --insecure, and otherwise tokens
	RootTokenFile string `yaml:"root_token_file"` // file of the first token, which may do everything: read if it exists, otherwise written when the cluster is founded; "" means that the token is printed once

	CertificateCAFile string            `yaml:"certificate_ca_file"` // PEM; the authority of client certificates that are credentials, apart from the cluster's own
	CertificateRules  []CertificateRule `yaml:"certificate_rules"`   // principals and grants of these certificates; the first rule that matches decides

	OIDCIssuer     string     `yaml:"oidc_issuer"`     // URL of an OpenID Connect issuer, whose tokens are credentials; "" means none
	OIDCAudience   string     `yaml:"oidc_audience"`   // the audience that its tokens must have
	OIDCAlgorithms []string   `yaml:"oidc_algorithms"` // algorithms of signatures that are accepted
	OIDCClaim      string     `yaml:"oidc_claim"`      // the claim that names the principal
	OIDCRules      []OIDCRule `yaml:"oidc_rules"`      // grants by the claims of a token; those of all rules that match are added
	OIDCCAFile     string     `yaml:"oidc_ca_file"`    // PEM; the authority of the issuer's certificate; "" means those of the machine
}

// CertificateRule maps client certificates to a principal: those with one name, which is in one of the first four
// fields. A name that ends with * is a prefix.
type CertificateRule struct {
	URI       string  `yaml:"uri,omitempty"`       // of the subject's alternative names
	DNS       string  `yaml:"dns,omitempty"`       // of the subject's alternative names
	Email     string  `yaml:"email,omitempty"`     // of the subject's alternative names
	CN        string  `yaml:"cn,omitempty"`        // the subject's common name
	Principal string  `yaml:"principal,omitempty"` // "" means cert: and the name in the certificate
	Grants    []Grant `yaml:"grants"`
}

// OIDCRule gives grants to tokens with a claim.
type OIDCRule struct {
	Claim  string  `yaml:"claim"` // its name, such as groups
	Value  string  `yaml:"value"` // of the claim, or of an element of it; a value that ends with * is a prefix
	Grants []Grant `yaml:"grants"`
}

// Grant gives verbs on scopes, as a grant of a token does.
type Grant struct {
	Scopes []string `yaml:"scopes,omitempty"`
	Verbs  []string `yaml:"verbs"`
}

// The values of auth.mode.
const (
	AuthOff    = "off"
	AuthTokens = "tokens"
)

// Audit has the settings of the audit log. An ephemeral node keeps one only if dir is set.
type Audit struct {
	Enabled        bool   `yaml:"enabled"`          // keep an audit log of refused calls, administrative calls, backups, deletes, tokens, policies and decisions
	Dir            string `yaml:"dir"`              // directory of the log alone; audit in the data directory if not set
	FileBytes      int64  `yaml:"file_bytes"`       // size of a file from which on a new one is begun
	Files          int    `yaml:"files"`            // files that are kept; the oldest is removed when there are more
	OnFailure      string `yaml:"on_failure"`       // what happens to administrative calls while the log cannot be written: refuse, or continue without a record
	WebhookURL     string `yaml:"webhook_url"`      // endpoint that receives the lines; https, or http to this machine
	WebhookKeyFile string `yaml:"webhook_key_file"` // file of the secret that signs the webhook's requests, 16 bytes or more
}

// The values of audit.on_failure.
const (
	AuditRefuse   = "refuse"
	AuditContinue = "continue"
)

// Placement has the settings of this node's part in keeping live instances.
type Placement struct {
	Lease  time.Duration `yaml:"lease"`  // time after which a node that does not renew its lease loses its partitions; 10s by default with the timing wan; 0: it keeps no instances
	Zone   string        `yaml:"zone"`   // its location, such as a data center; with cluster.voters, votes are spread over the zones
	Weight int           `yaml:"weight"` // its share of the partitions, relative to the other nodes': 1 to 10,000
}

// Instances has the settings of live instances on this node.
type Instances struct {
	AwakeMax  int      `yaml:"awake_max"`  // most awake instances, beyond which the least recently used hibernate; 0 means 200,000
	HTTPAllow []string `yaml:"http_allow"` // allowed hosts of HTTP handlers, with the port if it is not the scheme's default
	Keys      []string `yaml:"keys"`       // name@host/scope=file of each secret that signs requests to HTTP handlers: those of the scope, or of a prefix such as team-*, to the host
}

// Storage has the settings of the storage engine.
type Storage struct {
	Memory     string `yaml:"memory"`      // how much memory the node may use, such as 512MiB; a quarter of it is for caches, and Go's heap is limited by it; "" means the limit of the cgroup, or the memory of the machine
	CacheBytes int64  `yaml:"cache_bytes"` // memory of the engine, for unflushed writes and for cached blocks, at most memory; 0 derives it from memory
}

// Backup has the settings of scheduled backups and of the shipped log, which the leader's node takes
// care of. It should be the same on all nodes.
type Backup struct {
	URL         string        `yaml:"url"`          // where backups go: file:///DIRECTORY, s3://BUCKET, gs://BUCKET or azblob://CONTAINER; "" means none. A directory should be one that all nodes share
	Every       time.Duration `yaml:"every"`        // time from the beginning of one backup to the next
	Cron        string        `yaml:"cron"`         // when to take backups, such as 0 3 * * *, instead of every
	TimeZone    string        `yaml:"time_zone"`    // of cron, such as Europe/Paris; "" means UTC
	LogEvery    time.Duration `yaml:"log_every"`    // log entries are shipped within about this time; 0 means that the log is not shipped
	LogBytes    int64         `yaml:"log_bytes"`    // log entries are shipped once there are so many bytes
	Keep        int           `yaml:"keep"`         // the number of newest backups to keep
	KeepHourly  int           `yaml:"keep_hourly"`  // also the newest of each of the last hours with a backup: the number of hours
	KeepDaily   int           `yaml:"keep_daily"`   // as keep_hourly, for days in UTC
	KeepWeekly  int           `yaml:"keep_weekly"`  // as keep_hourly, for weeks in UTC that begin on Monday
	KeepLog     time.Duration `yaml:"keep_log"`     // each point in time of this last period stays restorable; at least 1m, or 0 for the log after the newest backup
	Recipients  []string      `yaml:"recipients"`   // age public keys that backups and the shipped log are encrypted to; none means no encryption
	TrustedKeys []string      `yaml:"trusted_keys"` // public keys of earlier cluster keys, as dormctl backup ls shows them: backups that they have signed count, and are removed in time
	Program     string        `yaml:"program"`      // path of dormblob, for other URLs than file://; "" means beside dormoused, or in $PATH
}

// Limits has the limits of the node's resources. Limits of requests are constants; limits of scopes
// are replicated.
type Limits struct {
	InFlightBytes    int64 `yaml:"in_flight_bytes"`    // memory for requests and answers in flight, of which one address may use half; 0 means an eighth of the memory limit, from 96 to 128 MiB
	DiskReserveBytes int64 `yaml:"disk_reserve_bytes"` // writes are refused if the disk has less free space; 0 means 1/256 of the most space that was free at a start, from 16 to 256 MiB
}

// Log has the settings of the node's log output.
type Log struct {
	Level  string `yaml:"level"`  // trace, debug, info, warn or error
	Format string `yaml:"format"` // text or json

	SlowCall time.Duration `yaml:"slow_call"` // calls that take at least this long are logged, with the parts of their time; 0 means none
}

// Tracing sets where the node sends the spans of calls. It speaks OpenTelemetry's protocol.
type Tracing struct {
	Endpoint    string  `yaml:"endpoint"`     // URL of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318; "" means that no spans are sent
	Sample      float64 `yaml:"sample"`       // share of the calls, from 0 to 1, that begin a trace; a call that comes with a sampled trace context is always traced
	HeadersFile string  `yaml:"headers_file"` // headers for the collector, one a line as "name: value"
	CAFile      string  `yaml:"ca_file"`      // PEM; the authority of the collector's certificate; "" means those of the system
}

// Default returns the default configuration.
func Default() Config {
	return Config{
		Node: Node{StopTimeout: 20 * time.Second},
		HTTP: HTTP{Addr: "127.0.0.1:7600", Hosts: []string{}, Origins: []string{}, Compress: true, Console: true},
		GRPC: Listen{Addr: "127.0.0.1:7601"},
		Raft: Raft{
			Addr: "127.0.0.1:7602", LogStore: "wal", ReadBarrier: "index", Decide: DecideLeader, LeaderWrite: LeaderWriteParallel,
			SnapshotBytes: 256 << 20, SnapshotEntries: 100_000, TrailingBytes: 64 << 20, TrailingEntries: 100_000, EntryCommits: entryCommitsMax,
		},
		Gossip:    Gossip{Addr: "127.0.0.1:7603"},
		Auth:      Auth{CertificateRules: []CertificateRule{}, OIDCAlgorithms: []string{"RS256", "ES256"}, OIDCClaim: "sub", OIDCRules: []OIDCRule{}},
		Audit:     Audit{Enabled: true, FileBytes: 64 << 20, Files: 8, OnFailure: AuditRefuse},
		Cluster:   Cluster{Join: []string{}, Timing: TimingLAN, DeadAfter: 5 * time.Minute},
		Placement: Placement{Lease: timings[TimingLAN].Lease, Weight: 100},
		Instances: Instances{HTTPAllow: []string{}, Keys: []string{}},
		Backup: Backup{
			Every: 24 * time.Hour, LogEvery: 10 * time.Second, LogBytes: 16 << 20,
			Keep: 7, KeepLog: 7 * 24 * time.Hour, Recipients: []string{}, TrustedKeys: []string{},
		},
		Log:     Log{Level: "info", Format: "text", SlowCall: time.Second},
		Tracing: Tracing{Sample: 0.01},
	}
}

// dataDirDefault is the default data directory.
const dataDirDefault = "./dormouse-data"

// Resolve sets what follows from other settings. Load calls it, and so does node.Open, for programs
// that create a Config themselves.
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
	if c.HTTP.Hosts == nil {
		c.HTTP.Hosts = []string{}
	}
	if c.HTTP.Origins == nil {
		c.HTTP.Origins = []string{}
	}
	if c.Backup.TrustedKeys == nil {
		c.Backup.TrustedKeys = []string{}
	}
	if c.Backup.Recipients == nil {
		c.Backup.Recipients = []string{}
	}
	if c.Cluster.Timing == "" || c.Cluster.Timing == timingDefault {
		c.Cluster.Timing = TimingLAN
	}
	if c.Auth.Mode == "" {
		c.Auth.Mode = AuthTokens
		if c.Node.Dev && c.Private() || c.Node.Insecure {
			c.Auth.Mode = AuthOff
		}
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
			*a.advertise = a.addr // the default: other nodes dial addr itself
		}
	}
}

// Private reports whether only this machine can reach the servers for clients.
func (c *Config) Private() bool {
	return hostcheck.Loopback(c.HTTP.Addr) && hostcheck.Loopback(c.GRPC.Addr) && (c.Redis.Addr == "" || hostcheck.Loopback(c.Redis.Addr))
}
