package jepsen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/catalog"
)

// callers is the set of all processes that call the cluster.
type callers struct {
	groups  []processGroup
	pulses  []*pulse
	clients []io.Closer
}

// processGroup is a workload and its processes.
type processGroup struct {
	workload  workload.Workload
	processes []*workload.Process
	last      *workload.Process // makes the final reads
}

// callers creates the processes of each workload and the pulses. Half of the processes
// use one node each; the others may use any node. See vias for what they call with.
func (r *run) callers() (*callers, error) {
	c := &callers{}
	maker := &callerMaker{run: r, callers: c, nodes: r.stage.nodes()}
	if len(maker.nodes) == 0 {
		return nil, errors.New("jepsen: no node runs")
	}
	for _, name := range r.options.Workloads {
		t, err := maker.processGroup(name, r.options.Processes)
		if err != nil {
			c.close()
			return nil, err
		}
		c.groups = append(c.groups, t)
	}
	for i := range len(maker.nodes) + 1 {
		bound := i
		if i == len(maker.nodes) {
			bound = anyNode
		}
		p, err := maker.process(check.PulseWorkload, bound, workload.ViaGRPC)
		if err != nil {
			c.close()
			return nil, err
		}
		c.pulses = append(c.pulses, &pulse{Process: p, every: r.pulse})
	}
	return c, nil
}

// callerMaker numbers the processes of a run and gives each its own client.
type callerMaker struct {
	run     *run
	callers *callers
	nodes   []node
	last    int // number of processes so far
}

// anyNode is the node index of a process that may use any node.
const anyNode = -1

func (c *callerMaker) processGroup(name string, processes int) (t processGroup, err error) {
	if t.workload, err = catalog.New(name); err != nil {
		return t, err
	}
	vias := c.run.vias(name, processes)
	for i := range processes {
		bound := anyNode
		if i%2 == 0 {
			bound = i / 2 % len(c.nodes)
		}
		p, err := c.process(name, bound, vias[i])
		if err != nil {
			return t, err
		}
		t.processes = append(t.processes, p)
	}
	t.last, err = c.process(name, anyNode, workload.ViaGRPC)
	return t, err
}

func (c *callerMaker) process(workloadName string, bound int, via workload.Via) (*workload.Process, error) {
	r := c.run
	p := &workload.Process{
		ID: c.last, Scope: r.scope(workloadName), Workload: workloadName, Record: r.record, Via: via,
		Rand: rand.New(rand.NewPCG(r.options.Seed, uint64(c.last))), Pace: r.pace,
	}
	c.last++
	nodes := rotated(c.nodes, p.ID)
	if bound != anyNode {
		nodes = c.nodes[bound : bound+1]
		p.Node = nodes[0].name
	}
	dialed, err := r.connect(p, nodes)
	if err != nil {
		return nil, err
	}
	c.callers.clients = append(c.callers.clients, dialed)
	return p, nil
}

// scope returns the scope of a workload's keys. It is unique to the run, because an
// existing cluster may hold the keys of earlier runs.
func (r *run) scope(workloadName string) string { return "jepsen-" + workloadName + "-" + r.id }

// runID returns an id that differs from the ids of all other runs on the cluster.
func runID(seed uint64, began time.Time) string {
	return fmt.Sprintf("%d-%s", seed, strconv.FormatInt(began.UnixNano(), 36))
}

// rotated returns the nodes, rotated by the given number.
func rotated(nodes []node, by int) []node {
	all := make([]node, len(nodes))
	for i := range nodes {
		all[i] = nodes[(i+by)%len(nodes)]
	}
	return all
}

// addresses returns the gRPC addresses of nodes.
func addresses(nodes []node) []string {
	addrs := make([]string, len(nodes))
	for i, n := range nodes {
		addrs[i] = n.grpc
	}
	return addrs
}

// act starts all processes. The returned stop ends them and waits for their last
// calls.
func (c *callers) act(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	for _, t := range c.groups {
		for _, p := range t.processes {
			wait.Go(func() { t.workload.Run(ctx, p) })
		}
	}
	for _, p := range c.pulses {
		wait.Go(func() { p.beat(ctx) })
	}
	return func() {
		cancel()
		wait.Wait()
	}
}

func (c *callers) close() {
	_ = join(len(c.clients), func(i int) error { return c.clients[i].Close() }) // no call is in progress
}

// tally counts the outcomes of the calls.
type tally struct {
	ok, refused, unknown atomic.Int64
	pulse                atomic.Int64 // return time of the last successful pulse
}

func (t *tally) count(op history.Op) {
	switch op.Outcome {
	case history.OK:
		t.ok.Add(1)
		if op.Workload == check.PulseWorkload {
			t.pulse.Store(int64(op.Return))
		}
	case history.Refused:
		t.refused.Add(1)
	case history.Unknown:
		t.unknown.Add(1)
	}
}
