package jepsen

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"dormouse/client"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
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
func (r *run) cast() (_ *cast, err error) {
	c := &cast{}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	nodes := r.stage.nodes()
	if len(nodes) == 0 {
		return nil, errors.New("jepsen: no node runs")
	}
	var addrs []string
	for _, n := range nodes {
		addrs = append(addrs, n.grpc)
	}
	id := 0
	process := func(w, name string, bound *node) (*workload.Process, error) {
		p := &workload.Process{ID: id, Scope: "jepsen-" + w, Workload: w, Record: r.record, Rand: rand.New(rand.NewPCG(r.options.Seed, uint64(id)))}
		id++
		if bound != nil {
			p.Node = bound.name
			p.Client, err = r.stage.dial(p.Scope, false, bound.grpc)
		} else {
			p.Client, err = r.stage.dial(p.Scope, true, turned(addrs, id)...)
		}
		if err == nil {
			c.clients = append(c.clients, p.Client)
		}
		return p, err
	}
	for _, name := range r.options.Workloads {
		w, err := workload.New(name)
		if err != nil {
			return c, err
		}
		t := troupe{workload: w}
		for i := range r.options.Processes + 1 {
			var bound *node
			if i%2 == 0 && i < r.options.Processes {
				bound = &nodes[i/2%len(nodes)]
			}
			p, err := process(name, name, bound)
			if err != nil {
				return c, err
			}
			if i == r.options.Processes {
				t.last = p
			} else {
				t.processes = append(t.processes, p)
			}
		}
		c.troupes = append(c.troupes, t)
	}
	for i := range len(nodes) + 1 {
		var bound *node
		if i < len(nodes) {
			bound = &nodes[i]
		}
		p, err := process(check.PulseWorkload, check.PulseWorkload, bound)
		if err != nil {
			return c, err
		}
		c.pulses = append(c.pulses, &pulse{Process: p})
	}
	return c, nil
}

// turned begins with another address for each process.
func turned(addrs []string, by int) []string {
	by %= len(addrs)
	return append(append([]string{}, addrs[by:]...), addrs[:by]...)
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
