package erase

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// live erases agents that are live instances. Signals leave marks in an instance's
// state. Half of the keys store each turn; the others store the state when the
// instance hibernates. State that was answered before an erasure began must not be
// visible once its receipt is complete.
type live struct {
	keys    *workload.Keys
	names   atomic.Int64        // number of marks so far; numbers them
	managed [2]workload.Managed // stores each turn, and stores on hibernation
}

const (
	liveWidth    = 6
	liveCallsMax = 400
	callMark     = "mark"
)

// NewLive returns workload erase-live.
func NewLive() workload.Workload {
	w := &live{keys: workload.NewSharedKeys("live", liveWidth, liveCallsMax)}
	for i, durability := range []agent.Durability{agent.DurabilityTurn, agent.DurabilityIdle} {
		w.managed[i].Manager = agent.Manager{
			Name: "erased-" + string(durability), Handler: agent.Handler{Kind: agent.HandlerDocument},
			Durability: durability, IdleTimeout: workload.CounterIdle,
		}
	}
	return w
}

// Name implements Workload.
func (*live) Name() string { return "erase-live" }

// About implements Workload.
func (*live) About() string {
	return "agents that are live instances, erased while they take signals: nothing from before an erasure is seen once its receipt is complete"
}

// liveCall is the input of a mark with a unique name.
type liveCall struct {
	Name string `json:"name,omitempty"`
}

// liveSeen is the answer of a call.
type liveSeen struct {
	First    bool     `json:"first,omitempty"`    // of a mark: the first attempt was answered, so no attempt is in progress
	Complete bool     `json:"complete,omitempty"` // of an erasure
	Names    []string `json:"names,omitempty"`    // of a get
}

// managerOf returns the manager of a key's instance.
func (w *live) managerOf(key string) *workload.Managed { return &w.managed[key[len(key)-1]%2] }

func (w *live) ref(p *workload.Process, key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: p.Scope, Manager: w.managerOf(key).Manager.Name, Key: key}
}

// Run implements Workload.
func (w *live) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		if !w.managerOf(key).Set(ctx, p) {
			continue
		}
		soon, cancel := ctx, context.CancelFunc(func() {})
		if p.Node != "" { // otherwise the call would wait as long as its node is cut off
			soon, cancel = context.WithTimeout(ctx, workload.ReaderMax)
		}
		switch draw := p.Rand.IntN(20); {
		case draw < 9:
			_ = w.mark(soon, p, key)
		case draw < 16:
			_ = w.get(soon, p, key)
		case draw < 18:
			_ = w.sleep(soon, p, key)
		default:
			_ = w.erase(soon, p, key)
		}
		cancel()
	}
}

// mark adds a mark to the instance's state.
func (w *live) mark(ctx context.Context, p *workload.Process, key string) error {
	in := liveCall{Name: workload.WriteName(p, w.names.Add(1))}
	_, err := workload.Call(ctx, p, callMark, key, true, in, func(ctx context.Context) (liveSeen, error) {
		data, err := json.Marshal(map[string]any{"marks": map[string]int{in.Name: 1}})
		if err != nil {
			panic(err) // cannot fail: strings
		}
		ctx, attempts := workload.Counting(ctx)
		_, err = p.Client.Instances().Signal(ctx, w.ref(p, key), agent.Signal{
			Type: "patch", Data: data, Request: agent.Request{Client: fmt.Sprintf("%s/%s/%s", p.Scope, key, in.Name), Seq: 1, TTL: workload.SignalTTL},
		})
		return liveSeen{First: attempts.Load() == 1}, err
	})
	return err
}

// get requests the instance's marks.
func (w *live) get(ctx context.Context, p *workload.Process, key string) error {
	_, err := workload.Call(ctx, p, workload.CallGet, key, false, liveCall{}, func(ctx context.Context) (liveSeen, error) {
		reply, err := p.Client.Instances().Signal(ctx, w.ref(p, key), agent.Signal{Type: "get"})
		if err != nil {
			return liveSeen{}, err
		}
		var found struct {
			State struct {
				Marks map[string]int `json:"marks"`
			} `json:"state"`
		}
		if err := json.Unmarshal(reply.Data, &found); err != nil {
			return liveSeen{}, agent.Errorf(agent.CodeInternal, "the reply is %s: %v", reply.Data, err)
		}
		var out liveSeen
		for name := range found.State.Marks {
			out.Names = append(out.Names, name)
		}
		slices.Sort(out.Names)
		return out, nil
	})
	return err
}

// sleep requests that the instance hibernates.
func (w *live) sleep(ctx context.Context, p *workload.Process, key string) error {
	_, err := workload.Call(ctx, p, workload.CallSleep, key, true, liveCall{}, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, p.Client.Instances().Hibernate(ctx, w.ref(p, key))
	})
	return err
}

// erase erases the instance's agent and waits until the erasure is complete or ctx
// ends.
func (w *live) erase(ctx context.Context, p *workload.Process, key string) error {
	_, err := workload.Call(ctx, p, callErase, key, true, liveCall{}, func(ctx context.Context) (liveSeen, error) {
		name := w.ref(p, key).Checkpoint()
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: []agent.Op{&agent.EraseAgent{Agent: name}}})
		if err != nil {
			return liveSeen{}, err
		}
		receipt, ok := result.Results[0].(*agent.Erasure)
		if !ok {
			return liveSeen{}, agent.Errorf(agent.CodeInternal, "the result is a %T", result.Results[0])
		}
		receipt, _ = agent.AwaitErasure(ctx, receipt, func(ctx context.Context) (*agent.Erasure, error) {
			_, found, err := workload.FindAll(ctx, p, &agent.GetErasure{Agent: name})
			if err != nil {
				return nil, err
			}
			if now, ok := found[0].(*agent.Erasure); ok {
				return now, nil
			}
			return nil, agent.Errorf(agent.CodeInternal, "there is no receipt of agent %q", name)
		})
		return liveSeen{Complete: receipt.Complete()}, nil
	})
	return err
}

// Final erases every agent and then requests its marks.
func (w *live) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		if err := w.erase(ctx, p, key); err != nil {
			return err
		}
		return w.get(ctx, p, key)
	})
}
