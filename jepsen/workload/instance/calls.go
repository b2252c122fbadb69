package instance

import (
	"context"
	"encoding/json"
	"fmt"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

func counterRef(p *workload.Process, key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: p.Scope, Manager: counterManager, Key: key}
}

// SignalOf returns the signal of a call. A repeated call has the same signal.
func SignalOf(p *workload.Process, call, key string, in CounterCall) agent.Signal {
	if call == workload.CallGet {
		return agent.Signal{Type: "get"}
	}
	data, err := json.Marshal(map[string]any{
		"entries": map[string]any{"payload": workload.Mark{By: in.Name}},
		"patch":   map[string]any{"by": in.Name, "marks": map[string]any{in.Name: 1}},
	})
	if err != nil {
		panic(err) // cannot fail: strings
	}
	return agent.Signal{
		Type: "turn", Data: data, Cast: call == callCast,
		Request: agent.Request{Client: fmt.Sprintf("%s/%s/%s", p.Scope, key, in.Name), Seq: 1, TTL: workload.SignalTTL},
	}
}

// signal sends a signal. The answer is the instance's own, except for a cast.
func (*instance) signal(ctx context.Context, p *workload.Process, call, key string, in CounterCall) (CounterSeen, error) {
	return workload.Call(ctx, p, call, key, call != workload.CallGet, in, func(ctx context.Context) (CounterSeen, error) {
		ctx, attempts := workload.Counting(ctx)
		reply, err := p.Client.Instances().Signal(ctx, counterRef(p, key), SignalOf(p, call, key, in))
		if err != nil {
			return CounterSeen{}, err
		}
		out := CounterSeen{Node: reply.Node, Epoch: reply.Epoch, Rev: reply.Rev, First: attempts.Load() == 1 && !in.Again}
		if call == workload.CallGet {
			out.State, err = countedIn(reply.Data, "state")
		}
		return out, err
	})
}

// countedIn decodes a counter's state, or the state in a member of a reply.
func countedIn(raw agent.JSON, member string) (*CounterState, error) {
	if member != "" {
		var reply map[string]json.RawMessage
		if err := json.Unmarshal(raw, &reply); err != nil {
			return nil, agent.Errorf(agent.CodeInternal, "the reply is %s: %v", raw, err)
		}
		raw = agent.JSON(reply[member])
	}
	var state struct {
		By    string         `json:"by"`
		Marks map[string]int `json:"marks"`
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "the state is %s: %v", raw, err)
	}
	return &CounterState{Count: uint64(len(state.Marks)), By: state.By}, nil
}

// lookup requests the status of an instance without activating it.
func (*instance) lookup(ctx context.Context, p *workload.Process, key string) (CounterSeen, error) {
	return workload.Call(ctx, p, callLookup, key, false, CounterCall{}, func(ctx context.Context) (CounterSeen, error) {
		found, err := p.Client.Instances().Lookup(ctx, counterRef(p, key))
		if agent.CodeOf(err) == agent.CodeNotFound {
			return CounterSeen{}, nil
		}
		return CounterSeen{Node: found.Node, Epoch: found.Epoch, Rev: found.Rev, Awake: found.Status == agent.InstanceAwake}, err
	})
}

// act makes a call whose answer is not judged.
func act(ctx context.Context, p *workload.Process, call, key string, do func(context.Context, agent.Instances, agent.InstanceRef) error) (struct{}, error) {
	return workload.Call(ctx, p, call, key, true, CounterCall{}, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, do(ctx, p.Client.Instances(), counterRef(p, key))
	})
}

// read reads the stored state of a counter at one index.
func (*instance) read(ctx context.Context, p *workload.Process, key string) (CounterSeen, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, CounterCall{}, func(ctx context.Context) (CounterSeen, error) {
		return StoredCounter(ctx, p, counterRef(p, key))
	})
}

// StoredCounter returns the stored state of a counter.
func StoredCounter(ctx context.Context, p *workload.Process, ref agent.InstanceRef) (CounterSeen, error) {
	id := ref.Checkpoint()
	_, found, err := workload.FindAll(ctx, p, &agent.GetCheckpoint{Key: id}, &agent.LoadEntries{Thread: id, Limit: agent.EntriesLimitMax})
	if err != nil {
		return CounterSeen{}, err
	}
	out := CounterSeen{State: &CounterState{}}
	for _, found := range found {
		switch found := found.(type) {
		case *agent.Checkpoint:
			if out.State, err = countedIn(found.State, ""); err != nil {
				return CounterSeen{}, err
			}
		case *agent.Entries:
			out.Rev = found.Thread.Rev
			for _, e := range found.Items {
				out.Names = append(out.Names, workload.NameIn(e.Payload))
			}
		}
	}
	return out, nil
}
