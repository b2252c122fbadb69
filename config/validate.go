package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"dormouse/internal/hostcheck"
)

// Bounds of settings.
const (
	nodeIDBytesMax      = 64 // it is in every handshake and log line
	joinMax             = 64
	expectMax           = 9 // more voters slow down each write
	deadAfterMin        = 10 * time.Second
	stopTimeoutMin      = time.Second
	stopTimeoutMax      = 10 * time.Minute
	diskReserveBytesMax = 1 << 40
	inFlightBytesMin    = 96 << 20 // the longest answer fits the half of one address, beside a page
	inFlightBytesMax    = 1 << 40
	logBytesMin         = 64 << 10 // the log's bytes are counted in these units
	logBytesMax         = 1 << 40
	snapshotEntriesMin  = 50 // a snapshot is a flush: too expensive for a handful of writes
	logEntriesMax       = 100_000_000
	entryCommitsMax     = 1024 // the work of one apply
	leaseMax            = 10 * time.Minute
	zoneBytesMax        = 64
	weightMax           = 10_000
	awakeMost           = 1_000_000
	auditFileBytesMin   = 1 << 20
	auditFileBytesMax   = 1 << 40
	auditFilesMin       = 2
	auditFilesMax       = 10_000
	rulesMax            = 1000 // of certificates, and of OIDC
)

// checks collects problems, so that one run shows all of them.
type checks struct{ problems []string }

func (c *checks) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c Config) validate() error {
	var v checks
	c.validateNode(&v)
	c.validateAddresses(&v)
	c.validateCluster(&v)
	c.validatePlacement(&v)
	between(&v, "instances.awake_max", int64(c.Instances.AwakeMax), 0, awakeMost)
	oneOf(&v, "raft.log_store", c.Raft.LogStore, "wal", "bolt")
	oneOf(&v, "raft.read_barrier", c.Raft.ReadBarrier, "index", "log")
	oneOf(&v, "raft.decide", c.Raft.Decide, DecideLeader, DecideEach)
	oneOf(&v, "raft.leader_write", c.Raft.LeaderWrite, LeaderWriteParallel, LeaderWriteFirst)
	between(&v, "raft.snapshot_bytes", c.Raft.SnapshotBytes, logBytesMin, logBytesMax)
	between(&v, "raft.snapshot_entries", c.Raft.SnapshotEntries, snapshotEntriesMin, logEntriesMax)
	between(&v, "raft.trailing_bytes", c.Raft.TrailingBytes, logBytesMin, logBytesMax)
	between(&v, "raft.trailing_entries", c.Raft.TrailingEntries, 1, logEntriesMax)
	between(&v, "raft.entry_commits", int64(c.Raft.EntryCommits), 1, entryCommitsMax)
	c.validateAuth(&v)
	c.validateBackup(&v)
	c.validateCertificates(&v)
	c.validateOIDC(&v)
	c.validateAudit(&v)
	oneOf(&v, "log.level", c.Log.Level, "trace", "debug", "info", "warn", "error")
	oneOf(&v, "log.format", c.Log.Format, "text", "json")
	c.validateTracing(&v)
	c.validateMemory(&v)
	if b := c.Limits.InFlightBytes; b != 0 {
		between(&v, "limits.in_flight_bytes", b, inFlightBytesMin, inFlightBytesMax)
	}
	between(&v, "limits.disk_reserve_bytes", c.Limits.DiskReserveBytes, 0, diskReserveBytesMax)
	if v.problems == nil {
		return nil
	}
	return &Error{Problems: v.problems}
}

func (c Config) validateNode(v *checks) {
	switch id := c.Node.ID; {
	case id == "":
		v.add("node.id is missing: give this node a name of its own, such as --node-id n1 (or start a single node with --dev)")
	case len(id) > nodeIDBytesMax:
		v.add("node.id has %d bytes: use at most %d", len(id), nodeIDBytesMax)
	case strings.ContainsFunc(id, func(r rune) bool { return !nodeIDRune(r) }):
		v.add("node.id %q: use letters, digits, '-', '_' and '.' only", id)
	}
	if c.Node.Ephemeral && c.Node.DataDir != "" {
		v.add("node.data_dir is %q, but an ephemeral node keeps nothing on disk: drop --data-dir or --ephemeral", c.Node.DataDir)
	}
	if strings.ContainsRune(c.Node.DataDir, 0) {
		v.add("node.data_dir holds a NUL byte")
	}
	if t := c.Node.StopTimeout; t < stopTimeoutMin || t > stopTimeoutMax {
		v.add("node.stop_timeout is %v: use %v to %v", t, stopTimeoutMin, stopTimeoutMax)
	}
}

func nodeIDRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
}

func (c Config) validateCluster(v *checks) {
	oneOf(v, "cluster.timing", c.Cluster.Timing, TimingLAN, TimingWAN)
	if len(c.Cluster.Join) > joinMax {
		v.add("cluster.join names %d addresses: a few are enough, at most %d", len(c.Cluster.Join), joinMax)
	}
	for _, addr := range c.Cluster.Join {
		host, port, err := splitAddr(addr)
		if err != nil || host == "" || port == 0 {
			v.add("cluster.join: %q is no address of a node: write host:port with its Raft port, such as 10.0.0.2:7602", addr)
		}
	}
	if c.Node.Dev && len(c.Cluster.Join) > 0 {
		v.add("cluster.join is set, but a --dev node is alone: drop --dev and give --node-id and --data-dir, or drop --join")
	}
	if c.Node.Ephemeral && !c.Node.Dev && !c.Cluster.Bootstrap && len(c.Cluster.Join) == 0 {
		v.add("an ephemeral node cannot return to a cluster: use --bootstrap or --join (or --dev)")
	}
	if n := c.Cluster.Voters; n < 0 || n > expectMax || n > 0 && n%2 == 0 {
		v.add("cluster.voters is %d: use an odd number up to %d, since an even one survives no more failures, or 0 so that all members vote", n, expectMax)
	}
	if d := c.Cluster.DeadAfter; d < deadAfterMin {
		v.add("cluster.dead_after is %v: use at least %v, longer than a restart takes", d, deadAfterMin)
	}
	switch expect := c.Cluster.Expect; {
	case expect < 0 || expect > expectMax:
		v.add("cluster.expect is %d: use 1 to %d, the number of nodes that found the cluster together, or 0", expect, expectMax)
	case expect > 0 && c.Cluster.Bootstrap:
		v.add("cluster.expect and cluster.bootstrap are both set: use cluster.expect on all nodes that start together, or cluster.bootstrap on a single one")
	case expect > 1 && len(c.Cluster.Join) == 0:
		v.add("cluster.expect is %d, and cluster.join names no node: list the Raft addresses of all of them", expect)
	}
}

func (c Config) validatePlacement(v *checks) {
	if t, least := c.Placement.Lease, TimingOf(c.Cluster.Timing).LeaseMin; t != 0 && (t < least || t > leaseMax) {
		v.add("placement.lease is %v: use %v to %v with the timing %s, or 0 for a node that keeps no instances", t, least, leaseMax, c.Cluster.Timing)
	}
	if z := c.Placement.Zone; len(z) > zoneBytesMax || strings.ContainsFunc(z, func(r rune) bool { return !nodeIDRune(r) }) {
		v.add("placement.zone %q: use letters, digits, '-', '_' and '.' only, at most %d", z, zoneBytesMax)
	}
	between(v, "placement.weight", int64(c.Placement.Weight), 1, weightMax)
}

// service is one listener during validation.
type service struct {
	name, addr, advertise string
}

func (c Config) validateAddresses(v *checks) {
	services := []service{
		{"http", c.HTTP.Addr, c.HTTP.Advertise},
		{"grpc", c.GRPC.Addr, c.GRPC.Advertise},
		{"raft", c.Raft.Addr, c.Raft.Advertise},
		{"gossip", c.Gossip.Addr, c.Gossip.Advertise},
	}
	if c.Redis.Addr != "" {
		services = append(services, service{"redis", c.Redis.Addr, c.HTTP.Advertise})
	}
	taken := map[string]string{} // :: address → service
	for _, s := range services {
		_, port, err := splitAddr(s.addr)
		if err != nil {
			v.add("%s.addr %q is no address to listen on: write host:port, such as 127.0.0.1:%d", s.name, s.addr, defaultPort(s.name))
			continue
		}
		if other, ok := taken[s.addr]; ok && port != 0 {
			v.add("%s.addr is %s, which %s already uses: give each its own port", s.name, s.addr, other)
		}
		taken[s.addr] = s.name + ".addr"
		if s.name != "redis" { // no other node dials it
			checkAdvertise(v, s)
		}
	}
	for _, origin := range c.HTTP.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || origin != u.Scheme+"://"+strings.ToLower(u.Host) || strings.Contains(u.Host, "*") {
			v.add("http.origins has %q, and should have origins as browsers send them, such as https://app.example.com or http://localhost:3000", origin)
		}
	}
	checkFiles(v, "http", c.HTTP.Listen())
	checkFiles(v, "grpc", c.GRPC)
	checkFiles(v, "redis", c.RedisListen())
	checkFiles(v, "raft", c.Raft.Listen())
	checkFile(v, "gossip.key_file", c.Gossip.KeyFile)
	checkFile(v, "cluster.key_file", c.Cluster.KeyFile)
	if r := c.Raft; r.CertFile != "" && r.CAFile == "" && !hostcheck.Loopback(r.Addr) && !c.Node.Insecure {
		v.add("raft.addr %s is reachable from other machines, and raft.ca_file is missing: set it, so that nodes verify each other, or drop raft.cert_file: then the nodes issue their certificates", r.Addr)
	}
}

func checkAdvertise(v *checks, s service) {
	if s.advertise == "" {
		v.add("%s.advertise is missing: %s is not an address that others can reach; name this machine's, with --%s-advertise", s.name, s.addr, s.name)
		return
	}
	host, port, err := splitAddr(s.advertise)
	if err != nil || host == "" || unspecified(s.advertise) {
		v.add("%s.advertise %q is not an address that others can reach: write host:port", s.name, s.advertise)
	} else if _, listens, _ := splitAddr(s.addr); port == 0 && listens != 0 {
		v.add("%s.advertise %q has port 0, which others cannot reach: write the port, such as %d", s.name, s.advertise, listens)
	}
}

func checkFiles(v *checks, name string, l Listen) {
	if (l.CertFile == "") != (l.KeyFile == "") {
		v.add("%s.cert_file and %s.key_file go together: set both or neither", name, name)
	}
	if l.CAFile != "" && l.CertFile == "" {
		v.add("%s.ca_file asks for TLS: set %s.cert_file and %s.key_file too", name, name, name)
	}
	checkFile(v, name+".cert_file", l.CertFile)
	checkFile(v, name+".key_file", l.KeyFile)
	checkFile(v, name+".ca_file", l.CAFile)
}

func checkFile(v *checks, key, path string) {
	if path == "" {
		return
	}
	if info, err := os.Stat(path); err != nil {
		v.add("%s: cannot read it: %v", key, err)
	} else if !info.Mode().IsRegular() {
		v.add("%s: %s is not a file", key, path)
	}
}

func oneOf(v *checks, key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		v.add("%s is %q: use one of %s", key, value, strings.Join(allowed, ", "))
	}
}

func between(v *checks, key string, value, low, high int64) {
	if value < low || value > high {
		v.add("%s is %d: use %d to %d", key, value, low, high)
	}
}

func defaultPort(name string) int {
	return map[string]int{"http": 7600, "grpc": 7601, "raft": 7602, "gossip": 7603, "redis": 7604}[name]
}

func splitAddr(addr string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("split %q: %w", addr, err)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port of %q: %w", addr, err)
	}
	return host, uint16(number), nil
}

// unspecified reports whether addr means every interface.
func unspecified(addr string) bool {
	host, _, err := splitAddr(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().IsUnspecified()
}
