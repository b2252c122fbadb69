package jepsen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"google.golang.org/grpc"

	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/command"
	"dormouse/jepsen/history"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/sdkclient"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/catalog"
	"dormouse/jepsen/workload/instance"
)

// stage is the cluster of a run: one that the harness starts, or a Target.
type stage interface {
	// nodes returns the running nodes.
	nodes() []node
	// dial returns a client of these addresses. If roam is set, the client may also
	// use other nodes that it learns of.
	dial(scope string, roam bool, addrs ...string) (*client.Client, error)
	// web returns how HTTP calls reach the nodes; nil if the HTTP API is not known.
	web() http.RoundTripper
	// command returns how dormctl is run against nodes; nil if it is not there.
	command(endpoints []string) command.Run
	// plan returns the planned faults, for the record.
	plan() any
	// disturb executes the plan and returns once all faults are healed.
	disturb(ctx context.Context, record *history.Recorder, tell func(string)) error
	// sample returns the status of a node.
	sample(ctx context.Context, name string) (check.Sample, error)
	// rows returns the hashes of a node's rows, or nil if the node does not tell them.
	rows(ctx context.Context, name string) (*check.Rows, error)
	// build returns the version of the nodes.
	build(ctx context.Context) string
	// missing returns the faults that are not possible, a line each.
	missing() []string
	// close stops the cluster. It may be called more than once.
	close() error
}

// node is one node of a stage.
type node struct {
	name  string // name of the host
	id    string // node id, which may change
	grpc  string // gRPC address
	url   string // of the HTTP API; "" if it is not known
	redis string // address for clients of Redis
}

// bedStage is a cluster that the harness starts.
type bedStage struct {
	bed  *testbed.Bed
	acts nemesis.Plan
	left []string // what the faults and the callers need and the bed lacks

	libraries libraries
}

// openBed draws the plan and starts the testbed that it needs. The nodes serve redisScope to clients of
// Redis, unless it is "".
func openBed(ctx context.Context, o Options, redisScope string, exited func(host, detail string)) (*bedStage, error) {
	programs, err := programs(o)
	if err != nil {
		return nil, err
	}
	plan, err := nemesis.Draw(o.Seed, o.Nemeses, o.Nodes, programs != nil, o.Time)
	if err != nil {
		return nil, err
	}
	for _, s := range plan.Steps {
		o.Progress(s.String())
	}
	var needs []testbed.Capability
	for _, name := range o.Nemeses {
		needs = append(needs, nemesis.Needs(name)...)
	}
	libraries, missing := librariesOf(ctx, o)
	for _, line := range missing {
		o.Progress(line)
	}
	bed, err := testbed.Open(ctx, testbed.Options{
		Dir: filepath.Join(o.Dir, nodesDir), Nodes: o.Nodes, Binary: o.Binary, Bin: o.Bin, Previous: o.Previous, Env: settings(o, needs),
		EnvOf: func(host string) map[string]string { return knobsOf(o, host) },
		Net:   !o.Loopback, Disk: diskFor(needs), Clock: slices.Contains(needs, testbed.CanClock), Programs: programs,
		Commands:   slices.Contains(needs, testbed.CanCommand) || slices.ContainsFunc(o.Workloads, catalog.ByCommand) && (o.Bin != "" || testbed.HasCommand(o.Binary)),
		Failpoints: slices.Contains(needs, testbed.CanFailpoint),
		Backups:    slices.Contains(needs, testbed.CanBackup),
		Confine:    slices.Contains(needs, testbed.CanLimit),
		RedisScope: redisScope,
		Logf:       func(format string, args ...any) { o.Progress(fmt.Sprintf(format, args...)) },
		OnExit:     exited,
	})
	if err != nil {
		return nil, err
	}
	s := &bedStage{bed: bed, acts: plan, left: slices.Clone(plan.Notes), libraries: libraries}
	for _, name := range o.Nemeses {
		for _, c := range nemesis.Needs(name) {
			if !bed.Can(c) {
				s.left = append(s.left, fmt.Sprintf("%s was left out: this testbed has no %s", name, c))
			}
		}
	}
	s.left = append(s.left, missing...)
	return s, nil
}

// nodesDir is the directory of the nodes' data, within the run's directory.
const nodesDir = "nodes"

// bugVariable is the environment variable that names the seeded bug.
const bugVariable = "DORMOUSE_SEEDED_BUG"

// settings returns the settings of all nodes. They take snapshots early and keep few
// entries of the log, so that faults coincide with snapshots and a node that was down
// needs one. Leases are short, so that partitions move while a fault lasts. Where the
// nodes back up, they keep more of the log: what was compacted before it was shipped
// cannot be restored.
func settings(o Options, needs []testbed.Capability) map[string]string {
	s := map[string]string{
		"DORMOUSE_RAFT__SNAPSHOT_BYTES": "262144", "DORMOUSE_RAFT__SNAPSHOT_ENTRIES": "100",
		"DORMOUSE_RAFT__TRAILING_BYTES": "65536", "DORMOUSE_RAFT__TRAILING_ENTRIES": "5",
		"DORMOUSE_PLACEMENT__LEASE": lease,
	}
	if slices.Contains(needs, testbed.CanBackup) {
		s["DORMOUSE_RAFT__TRAILING_BYTES"], s["DORMOUSE_RAFT__TRAILING_ENTRIES"] = "16777216", "20000"
	}
	if t := timingOf(o); t != "" {
		s["DORMOUSE_CLUSTER__TIMING"] = t
	}
	if o.Bug != "" {
		s[bugVariable] = o.Bug
	}
	return s
}

// lease is the lease of a node or a host program: it loses its partitions when it has
// not been heard from for that long.
const lease = "2s"

// programs returns the commands of the host programs. Two have the handler of the
// workloads. The third has another handler: it owns a share of the partitions, and the
// two others handle their turns.
func programs(o Options) ([][]string, error) {
	if !catalog.NeedsPrograms(o.Workloads) {
		return nil, nil
	}
	command := o.Program
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("jepsen: find the path of this executable: %w", err)
		}
		command = []string{self, "host"}
	}
	var all [][]string
	for _, handler := range []string{instance.HostHandler, instance.HostHandler, "another"} {
		all = append(all, append(slices.Clone(command), "--lease", lease, "--handler", handler))
	}
	return all, nil
}

// diskFor returns the kind of disk that the faults need.
func diskFor(needs []testbed.Capability) testbed.DiskKind {
	kind := testbed.Plain
	if slices.Contains(needs, testbed.CanDisk) {
		kind |= testbed.Faulty
	}
	if slices.Contains(needs, testbed.CanPower) {
		kind |= testbed.Powered
	}
	return kind
}

func (s *bedStage) nodes() []node {
	var nodes []node
	for _, h := range s.bed.Hosts() {
		if h.Running() {
			nodes = append(nodes, node{name: h.Name(), id: h.Node(), grpc: h.GRPC(), url: s.bed.URL(h), redis: testbed.Redis(h)})
		}
	}
	return nodes
}

func (s *bedStage) dial(scope string, roam bool, addrs ...string) (*client.Client, error) {
	return s.dialAs(s.token(), scope, roam, addrs...)
}

// token implements tokenStage.
func (s *bedStage) token() string { return s.bed.Token() }

// redis implements redisStage. The server of Redis has the certificate of the others.
func (s *bedStage) redis(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := s.bed.Dial(ctx, addr)
	config := s.bed.TLS()
	if err != nil || config == nil {
		return conn, err
	}
	if config = config.Clone(); config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	return secured, nil
}

// libraryOf implements tokenStage.
func (s *bedStage) libraryOf(name string) workload.Via { return s.libraries.of[name] }

// library implements tokenStage.
func (s *bedStage) library(via workload.Via, token string, urls []string) (*sdkclient.Program, error) {
	return s.libraries.start(s.bed, via, token, urls)
}

// dialAs implements tokenStage.
func (s *bedStage) dialAs(token, scope string, roam bool, addrs ...string) (*client.Client, error) {
	return client.Dial(client.Options{
		Endpoints: addrs, Fixed: !roam, Scope: scope, Token: token, TLS: s.bed.TLS(),
		Dialer: s.bed.Dial, DialOptions: []grpc.DialOption{countAttempts()},
	})
}

func (s *bedStage) web() http.RoundTripper {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) { return s.bed.Dial(ctx, addr) }, TLSClientConfig: s.bed.TLS(),
	}
}

func (s *bedStage) command(endpoints []string) command.Run {
	if !s.bed.Can(testbed.CanCommand) {
		return nil
	}
	return func(ctx context.Context, stdin []byte, stdout io.Writer, args ...string) (stderr []byte, code int, err error) {
		err = s.bed.CommandTo(ctx, endpoints, stdin, stdout, args...)
		if exit := (*testbed.CommandError)(nil); errors.As(err, &exit) && exit.Code >= 0 {
			return []byte(exit.Said), exit.Code, nil
		}
		return nil, 0, err
	}
}

func (s *bedStage) plan() any { return s.acts }

func (s *bedStage) disturb(ctx context.Context, record *history.Recorder, tell func(string)) error {
	return s.acts.Run(ctx, nemesis.Ground{
		Bed: s.bed, Record: record, Tell: tell,
		Dial: func(endpoints ...string) (*client.Client, error) { return s.dial("", true, endpoints...) },
	})
}

func (s *bedStage) sample(ctx context.Context, name string) (check.Sample, error) {
	is, err := s.bed.Sample(ctx, name)
	return check.Sample{
		Leader: s.host(is.Leader), Term: is.Term, Commit: is.Commit, Applied: is.Applied, Chain: is.Chain,
		Goroutines: is.Goroutines, Descriptors: is.Descriptors, RSS: is.RSS, Installs: is.Installs,
		Snapshots: is.Snapshots, Truncations: is.Truncations,
		Answered: is.Answered, SharedFences: is.SharedFences, LeasesEnded: is.LeasesEnded, Drained: is.Drained,
	}, err
}

func (s *bedStage) rows(ctx context.Context, name string) (*check.Rows, error) {
	sum, err := s.bed.StateSum(ctx, name)
	if err != nil || sum == nil {
		return nil, err
	}
	rows := &check.Rows{Index: sum.Index, Hash: sum.Hash, Kinds: map[string]string{}}
	for _, k := range sum.Kinds {
		rows.Kinds[k.Kind] = k.Hash
	}
	return rows, nil
}

// host returns the name of a node's host.
func (s *bedStage) host(id string) string {
	for _, h := range s.bed.Hosts() {
		if h.Node() == id {
			return h.Name()
		}
	}
	return id
}

func (s *bedStage) build(ctx context.Context) string { return version(ctx, s) }

func (s *bedStage) missing() []string { return append(s.bed.Missing(), s.left...) }

func (s *bedStage) close() error { return s.bed.Close() }

// version returns the version that any of the nodes reports.
func version(ctx context.Context, s stage) string {
	var addrs []string
	for _, n := range s.nodes() {
		addrs = append(addrs, n.grpc)
	}
	c, err := s.dial("", false, addrs...)
	if err != nil {
		return ""
	}
	defer c.Close() //nolint:errcheck // one request was made
	status, err := c.Status(ctx)
	if err != nil {
		return ""
	}
	return status.Version
}

// join calls do n times in parallel and joins the errors.
func join(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { errs[i] = do(i) })
	}
	wait.Wait()
	return errors.Join(errs...)
}
