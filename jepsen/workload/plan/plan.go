// Package plan drives turns that only set a timer. It checks that their order in the
// log agrees with the epochs of their owners.
package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// plan makes plans: signals whose turns only set a timer, which fires long after the
// run. No rev and no revision guards such a turn, only the fence of its owner. The
// order of the plans in the log must agree with the order of their owners. Their
// instances stay awake, so that nothing else stops an owner that was cut off. Most
// processes that use one node make plans for instances that this node owns, and wait
// for the answers.
type plan struct {
	keys    *workload.Keys
	names   atomic.Int64     // number of plans so far; numbers them
	hasty   workload.Readers // one process of each node, with a short timeout
	managed workload.Managed
	owners  sync.Map // :: key → the node that answered last
}

const (
	prefix   = "plan"
	width    = 9               // at a time, so that each node has some
	callsMax = agent.TimersMax // an instance cannot have more timers
	manager  = "plans"
	idle     = time.Minute
	ahead    = 1000 * time.Hour // longer than any step of a clock
	planMax  = 25 * time.Second // timeout of a call at one node: an owner that was cut off tries for ten seconds to store a turn, and then repeats it
)

// New returns workload plan.
func New() workload.Workload {
	return &plan{
		keys: workload.NewSharedKeys(prefix, width, callsMax),
		managed: workload.Managed{Manager: agent.Manager{
			Name: manager, Handler: agent.Handler{Kind: agent.HandlerDocument}, IdleTimeout: idle,
		}},
	}
}

func (*plan) Name() string { return "plan" }

func (*plan) About() string {
	return "turns that only set a timer, guarded only by the fence of their partition: their order in the log is the order of their owners"
}

// callPlan makes a plan; a workload.CallRead reads the plans.
const callPlan = "plan"

// planCall is the input of a plan with a unique name.
type planCall struct {
	Name string `json:"name,omitempty"`
}

// planSeen is an instance's plans that a call left or found, and the owner.
type planSeen struct {
	Node  string   `json:"node,omitempty"`
	Epoch uint64   `json:"epoch,omitempty"`
	First bool     `json:"first,omitempty"` // the first attempt was answered, so Epoch is its turn's
	Plans []string `json:"plans,omitempty"` // of a read: all plans, in the order of the log
}

// Run makes plans. One process of each node has a short timeout and makes plans
// anywhere, so that new owners make plans before a fault ends. The other processes
// that use one node wait for this node.
func (w *plan) Run(ctx context.Context, p *workload.Process) {
	most, waits := workload.CallMax, p.Node != ""
	switch {
	case w.hasty.Include(p):
		most, waits = workload.ReaderMax, false
	case waits:
		most = planMax
	}
	for workload.Pace(ctx, p) {
		key := w.pick(p, waits)
		switch {
		case !w.managed.Set(ctx, p):
		case !waits && p.Rand.IntN(20) == 0:
			_, _ = w.read(ctx, p, key)
		default:
			w.make(ctx, p, most, key)
		}
	}
}

// pick returns a key. If owned is set it prefers keys that the node of p owns.
func (w *plan) pick(p *workload.Process, owned bool) string {
	key := w.keys.Pick(p)
	for range width {
		if owner, known := w.owners.Load(key); !owned || !known || owner == p.Node {
			break
		}
		key = w.keys.Pick(p)
	}
	return key
}

// make makes a plan, with the timeout most.
func (w *plan) make(ctx context.Context, p *workload.Process, most time.Duration, key string) {
	in := planCall{Name: workload.WriteName(p, w.names.Add(1))}
	out, err := workload.CallFor(ctx, most, p, callPlan, key, true, in, func(ctx context.Context) (planSeen, error) {
		ctx, attempts := workload.Counting(ctx)
		reply, err := p.Client.Instances().Signal(ctx, ref(p, key), planOf(p, key, in.Name))
		if err != nil {
			return planSeen{}, err
		}
		return planSeen{Node: reply.Node, Epoch: reply.Epoch, First: attempts.Load() == 1}, nil
	})
	if err == nil {
		w.owners.Store(key, out.Node)
	}
}

func ref(p *workload.Process, key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: p.Scope, Manager: manager, Key: key}
}

// planOf returns the signal of a plan.
func planOf(p *workload.Process, key, name string) agent.Signal {
	data, err := json.Marshal(map[string]any{
		"timers": map[string]any{name: map[string]any{"at": time.Now().Add(ahead).UnixMilli()}},
	})
	if err != nil {
		panic(err) // cannot fail: strings and numbers
	}
	return agent.Signal{
		Type: "turn", Data: data,
		Request: agent.Request{Client: fmt.Sprintf("%s/%s/%s", p.Scope, key, name), Seq: 1, TTL: workload.SignalTTL},
	}
}

// read reads the plans of a key. The timers' generations show their order in the log.
func (*plan) read(ctx context.Context, p *workload.Process, key string) (planSeen, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, planCall{}, func(ctx context.Context) (planSeen, error) {
		_, found, err := workload.FindAll(ctx, p, &agent.ListTimers{Manager: manager, Key: key, Page: agent.Page{Limit: agent.ListLimitMax}})
		if err != nil {
			return planSeen{}, err
		}
		var out planSeen
		for _, found := range found {
			if timers, ok := found.(*agent.TimerList); ok {
				slices.SortFunc(timers.Items, func(a, b agent.Timer) int { return cmp.Compare(a.Generation, b.Generation) })
				for _, t := range timers.Items {
					out.Plans = append(out.Plans, t.ID)
				}
			}
		}
		return out, nil
	})
}

// Final reads the plans of every key.
func (w *plan) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := w.read(ctx, p, key)
		return err
	})
}
