package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"google.golang.org/grpc"

	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/workload/catalog"
	"dormouse/jepsen/workload/instance"
)

// stage is the cluster that a run is played against: one of our own, or
// somebody else's.
type stage interface {
	// nodes are those that stand now, by name.
	nodes() []node
	// dial makes a client of these addresses alone, or, where roam, of whatever
	// others they tell of too.
	dial(scope string, roam bool, addrs ...string) (*client.Client, error)
	// plan is what will be done to it, for the record.
	plan() any
	// disturb does that, and returns once all is healed.
	disturb(ctx context.Context, record *history.Recorder, tell func(string)) error
	// sample is how a node stands.
	sample(ctx context.Context, name string) (check.Sample, error)
	// build is the version that it runs.
	build(ctx context.Context) string
	// missing is what cannot be done to it, a line each.
	missing() []string
	// close takes it down; it may be called again.
	close() error
}

// node is one of a stage's.
type node struct {
	name string // the host's
	id   string // the node's own, which it may change
	grpc string // its address
}

// bedStage is a cluster of our own.
type bedStage struct {
	bed  *testbed.Bed
	acts nemesis.Plan
	left []string // what the bed cannot do that the faults need
}

// openBed draws the plan and makes the bed that it needs.
func openBed(ctx context.Context, o Options, exited func(host, detail string)) (*bedStage, error) {
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
	bed, err := testbed.Open(ctx, testbed.Options{
		Dir: filepath.Join(o.Dir, nodesDir), Nodes: o.Nodes, Binary: o.Binary, Env: settings(o),
		Net: !o.Loopback, Disk: diskFor(needs), Clock: slices.Contains(needs, testbed.CanClock), Programs: programs,
		Logf:   func(format string, args ...any) { o.Progress(fmt.Sprintf(format, args...)) },
		OnExit: exited,
	})
	if err != nil {
		return nil, err
	}
	s := &bedStage{bed: bed, acts: plan, left: slices.Clone(plan.Notes)}
	for _, name := range o.Nemeses {
		for _, c := range nemesis.Needs(name) {
			if !bed.Can(c) {
				s.left = append(s.left, fmt.Sprintf("%s was left out: this bed has no %s", name, c))
			}
		}
	}
	return s, nil
}

// nodesDir holds what the nodes keep, in the run's directory.
const nodesDir = "nodes"

// bugVariable names the seeded bug to a binary that was built for it.
const bugVariable = "DORMOUSE_SEEDED_BUG"

// settings are those of all nodes. Their logs are cut early and keep little, so
// that faults meet snapshots, and a node that was away is sent one. Their leases
// are short, so that what they own goes to others while a fault lasts.
func settings(o Options) map[string]string {
	s := map[string]string{
		"DORMOUSE_RAFT__SNAPSHOT_BYTES": "262144", "DORMOUSE_RAFT__SNAPSHOT_ENTRIES": "100",
		"DORMOUSE_RAFT__TRAILING_BYTES": "65536", "DORMOUSE_RAFT__TRAILING_ENTRIES": "5",
		"DORMOUSE_PLACEMENT__LEASE": lease,
	}
	if o.Bug != "" {
		s[bugVariable] = o.Bug
	}
	return s
}

// lease is how long a node or a program keeps what it owns though nobody hears
// from it.
const lease = "2s"

// programs are the commands of those that take part beside the nodes: two that
// have the handler of the workloads, and one with another, which owns a share of
// the partitions and has their turns handled by the two.
func programs(o Options) ([][]string, error) {
	if !catalog.NeedsPrograms(o.Workloads) {
		return nil, nil
	}
	command := o.Program
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("jepsen: find the harness's own program: %w", err)
		}
		command = []string{self, "host"}
	}
	var all [][]string
	for _, handler := range []string{instance.HostHandler, instance.HostHandler, "another"} {
		all = append(all, append(slices.Clone(command), "--lease", lease, "--handler", handler))
	}
	return all, nil
}

// diskFor is the kind of disk that can do what the faults need.
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
			nodes = append(nodes, node{h.Name(), h.Node(), h.GRPC()})
		}
	}
	return nodes
}

func (s *bedStage) dial(scope string, roam bool, addrs ...string) (*client.Client, error) {
	return client.Dial(client.Options{
		Endpoints: addrs, Fixed: !roam, Scope: scope,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(s.bed.Dial), countAttempts()},
	})
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
	}, err
}

// host is the host of a node.
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

// version asks any node for its version.
func version(ctx context.Context, s stage) string {
	var addrs []string
	for _, n := range s.nodes() {
		addrs = append(addrs, n.grpc)
	}
	c, err := s.dial("", false, addrs...)
	if err != nil {
		return ""
	}
	defer c.Close() //nolint:errcheck // one question was asked
	status, err := c.Status(ctx)
	if err != nil {
		return ""
	}
	return status.Version
}

// join joins what several did at once.
func join(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { errs[i] = do(i) })
	}
	wait.Wait()
	return errors.Join(errs...)
}
