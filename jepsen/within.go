package jepsen

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/command"
	"dormouse/jepsen/history"
)

// Cluster is a cluster that a caller of RunWithin keeps, such as a simulated one.
type Cluster interface {
	// Members returns the running nodes.
	Members() []Member
	// Dial returns a client of these addresses. If roam is set, the client may also use
	// other nodes that it learns of.
	Dial(scope string, roam bool, addrs ...string) (*client.Client, error)
	// Web returns how the HTTP calls of one process reach the nodes; nil if no process calls over HTTP.
	Web() http.RoundTripper
	// Redis connects to a node's server for clients of Redis, which serves RedisScope.
	Redis(ctx context.Context, network, addr string) (net.Conn, error)
	// Plan returns the planned faults, for the record.
	Plan() any
	// Disturb executes the plan and returns once all faults are healed.
	Disturb(ctx context.Context, record *history.Recorder, tell func(string)) error
	// Sample returns the status of a node.
	Sample(ctx context.Context, name string) (check.Sample, error)
	// Rows returns the hashes of all rows of a node.
	Rows(ctx context.Context, name string) (*check.Rows, error)
	// Missing returns what is not possible in this cluster, a line each.
	Missing() []string
}

// Member is one node of a Cluster.
type Member struct {
	Name string // of the host
	ID   string // the node's id, which may change
	GRPC string // address
	URL  string // of the HTTP API; "" if it is not known

	Redis string // address for clients of Redis; "" if the node does not serve them
}

// RedisScope returns the scope that the nodes of a Cluster serve to clients of Redis, for a run with
// the same options; "" if the run has no such clients.
func RedisScope(o Options) string { return (&run{options: o, id: withinID(o.Seed)}).redisScope() }

// withinID returns the id of the run within a Cluster, which has no keys of other runs.
func withinID(seed uint64) string { return strconv.FormatUint(seed, 10) }

// RunWithin makes the calls of one run on a cluster that the caller keeps, and writes the
// history into a file. Of the options it uses the workloads, the number of processes, the
// seed, the time and Progress; pace is the mean wait between two calls of a process, 0
// means the workloads' own, and pulse is the time between two pulses of a node. Judge judges the history.
func RunWithin(ctx context.Context, o Options, pace, pulse time.Duration, c Cluster, file history.File) error {
	faults := o.Nemeses // the cluster knows them
	o.Dir, o.Nemeses = "unused", nil
	o, err := o.resolve()
	if err != nil {
		return err
	}
	o.Nemeses = faults
	r := &run{options: o, id: withinID(o.Seed), stage: within{c}, pace: pace, pulse: pulse}
	header, err := r.header(ctx)
	if err != nil {
		return err
	}
	r.record = history.Record(file, header)
	r.live.Store(r.record)
	r.record.Watch(r.tally.count)
	r.phase(check.PhaseStart)
	err = r.phases(ctx)
	r.phase(check.PhaseEnd)
	return errors.Join(err, r.record.Close())
}

// within is the stage of a Cluster.
type within struct{ Cluster }

func (w within) nodes() []node {
	var nodes []node
	for _, m := range w.Members() {
		nodes = append(nodes, node{name: m.Name, id: m.ID, grpc: m.GRPC, url: m.URL, redis: m.Redis})
	}
	return nodes
}

func (w within) dial(scope string, roam bool, addrs ...string) (*client.Client, error) {
	return w.Dial(scope, roam, addrs...)
}

func (w within) web() http.RoundTripper { return w.Web() }

// redis implements redisStage.
func (w within) redis(ctx context.Context, network, addr string) (net.Conn, error) {
	return w.Redis(ctx, network, addr)
}

// command implements stage: no process runs dormctl.
func (w within) command([]string) command.Run { return nil }

func (w within) plan() any { return w.Plan() }

func (w within) disturb(ctx context.Context, record *history.Recorder, tell func(string)) error {
	return w.Disturb(ctx, record, tell)
}

func (w within) sample(ctx context.Context, name string) (check.Sample, error) {
	return w.Sample(ctx, name)
}

func (w within) rows(ctx context.Context, name string) (*check.Rows, error) {
	return w.Rows(ctx, name)
}

func (w within) build(ctx context.Context) string { return version(ctx, w) }

func (w within) missing() []string { return w.Missing() }

func (w within) close() error { return nil }
