package jepsen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/catalog"
)

// cast is everybody who calls.
type cast struct {
	troupes []troupe
	pulses  []*pulse
	clients []*client.Client
}

// troupe is a workload and its processes.
type troupe struct {
	workload  workload.Workload
	processes []*workload.Process
	last      *workload.Process // makes the final reads
}

// cast makes the processes of each workload, half of them bound to a node each
// and half free to roam, and what takes the cluster's pulse.
func (r *run) cast() (*cast, error) {
	c := &cast{}
	casting := &casting{run: r, cast: c, nodes: r.stage.nodes()}
	if len(casting.nodes) == 0 {
		return nil, errors.New("jepsen: no node runs")
	}
	for _, name := range r.options.Workloads {
		t, err := casting.troupe(name, r.options.Processes)
		if err != nil {
			c.close()
			return nil, err
		}
		c.troupes = append(c.troupes, t)
	}
	for i := range len(casting.nodes) + 1 {
		bound := i
		if i == len(casting.nodes) {
			bound = roams
		}
		p, err := casting.process(check.PulseWorkload, bound)
		if err != nil {
			c.close()
			return nil, err
		}
		c.pulses = append(c.pulses, &pulse{Process: p})
	}
	return c, nil
}

// casting numbers the processes of a run and gives each a client of its own.
type casting struct {
	run   *run
	cast  *cast
	nodes []node
	last  int // number of processes so far
}

// roams is the node of a process that is bound to none.
const roams = -1

func (c *casting) troupe(name string, processes int) (t troupe, err error) {
	if t.workload, err = catalog.New(name); err != nil {
		return t, err
	}
	for i := range processes {
		bound := roams
		if i%2 == 0 {
			bound = i / 2 % len(c.nodes)
		}
		p, err := c.process(name, bound)
		if err != nil {
			return t, err
		}
		t.processes = append(t.processes, p)
	}
	t.last, err = c.process(name, roams)
	return t, err
}

func (c *casting) process(workloadName string, bound int) (p *workload.Process, err error) {
	r := c.run
	p = &workload.Process{
		ID: c.last, Scope: r.scope(workloadName), Workload: workloadName, Record: r.record,
		Rand: rand.New(rand.NewPCG(r.options.Seed, uint64(c.last))),
	}
	c.last++
	if bound == roams {
		p.Client, err = r.stage.dial(p.Scope, true, turned(c.nodes, p.ID)...)
	} else {
		p.Node = c.nodes[bound].name
		p.Client, err = r.stage.dial(p.Scope, false, c.nodes[bound].grpc)
	}
	if err != nil {
		return nil, err
	}
	c.cast.clients = append(c.cast.clients, p.Client)
	return p, nil
}

// scope is where a workload's keys are: the run's own, since a cluster that
// stands still holds those of the runs before.
func (r *run) scope(workloadName string) string { return "jepsen-" + workloadName + "-" + r.id }

// runID tells a run from all others on the same cluster.
func runID(seed uint64, began time.Time) string {
	return fmt.Sprintf("%d-%s", seed, strconv.FormatInt(began.UnixNano(), 36))
}

// turned are the addresses, with another one first for each process.
func turned(nodes []node, by int) []string {
	addrs := make([]string, len(nodes))
	for i := range nodes {
		addrs[i] = nodes[(i+by)%len(nodes)].grpc
	}
	return addrs
}

// act has everybody call until stop, which waits for their last calls.
func (c *cast) act(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	for _, t := range c.troupes {
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

func (c *cast) close() {
	_ = join(len(c.clients), func(i int) error { return c.clients[i].Close() }) // nothing is under way
}

// tally counts what came of the calls.
type tally struct {
	ok, refused, unknown atomic.Int64
	pulse                atomic.Int64 // the return of the last pulse that was a commit
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
