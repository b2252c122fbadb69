package pod

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/instance/pod"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/instance"
)

func podRef(p *workload.Process, key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: p.Scope, Manager: podManager, Key: key}
}

// memberRef returns the instance of a pod's node.
func memberRef(p *workload.Process, key, node string) agent.InstanceRef {
	return agent.InstanceRef{Scope: p.Scope, Manager: memberManager, Key: "pod/" + podManager + "/" + key + "/" + node}
}

// memberKey returns the key of the recorded calls on a pod's node.
func memberKey(key, node string) string { return key + "/" + node }

// make creates the pod of a key unless it exists. It returns true if the pod exists.
func (w *podWorkload) make(ctx context.Context, p *workload.Process, key string) bool {
	if _, made := w.made.Load(key); made {
		return true
	}
	_, err := workload.Call(ctx, p, callMake, key, true, podCall{}, func(ctx context.Context) (struct{}, error) {
		_, err := p.Client.Pods().Get(ctx, podRef(p, key), pod.Open{Topology: []byte(`{"name":"pod","nodes":{}}`)})
		return struct{}{}, err
	})
	if err == nil {
		w.made.Store(key, true)
	}
	return err == nil
}

// add adds a node, with the timeout most. A node that does not start is in the
// topology too.
func (*podWorkload) add(ctx context.Context, p *workload.Process, most time.Duration, key string, in podCall) (podSeen, error) {
	return workload.CallFor(ctx, most, p, callGrow, key, true, in, func(ctx context.Context) (podSeen, error) {
		ops, err := json.Marshal([]any{map[string]any{"add_node": map[string]any{
			"name": in.Name, "node": map[string]any{"manager": memberManager, "activation": "eager", "initial_state": map[string]any{"of": key}},
		}}})
		if err != nil {
			panic(err) // cannot fail: strings
		}
		request := agent.Request{Client: p.Scope + "/" + key + "/" + in.Name, Seq: 1, TTL: workload.SignalTTL}
		report, err := p.Client.Pods().Mutate(ctx, podRef(p, key), ops, request)
		if agent.CodeOf(err) == agent.CodeMutationFailed {
			return podSeen{Version: report.TopologyVersion, Failed: true}, nil
		}
		return podSeen{Version: report.TopologyVersion}, err
	})
}

// look reads the stored state of a pod.
func (*podWorkload) look(ctx context.Context, p *workload.Process, key string) (podSeen, error) {
	_, found, err := workload.FindAll(ctx, p, &agent.GetCheckpoint{Key: podRef(p, key).Checkpoint()})
	if err != nil {
		return podSeen{}, err
	}
	stored, ok := found[0].(*agent.Checkpoint)
	if !ok {
		return podSeen{}, nil
	}
	slot, ok, err := pod.ReadSlot(stored.State)
	if err != nil || !ok {
		return podSeen{}, agent.Errorf(agent.CodeInternal, "the pod's state is %.200s: %v", stored.State, err)
	}
	return podSeen{
		Version: slot.TopologyVersion, Nodes: slices.Sorted(maps.Keys(slot.Topology.Nodes)), Running: slot.Mutation.Status == pod.MutationRunning,
	}, nil
}

// read makes look as a call. A final read also returns which nodes are stored.
func (w *podWorkload) read(ctx context.Context, p *workload.Process, key string, in podCall) (podSeen, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, in, func(ctx context.Context) (podSeen, error) {
		seen, err := w.look(ctx, p, key)
		if err != nil || !in.Final || len(seen.Nodes) == 0 {
			return seen, err
		}
		var reads []agent.Read
		for _, node := range seen.Nodes {
			reads = append(reads, &agent.GetCheckpoint{Key: memberRef(p, key, node).Checkpoint()})
		}
		_, found, err := workload.FindAll(ctx, p, reads...)
		for n, f := range found {
			if f != nil {
				seen.Stored = append(seen.Stored, seen.Nodes[n])
			}
		}
		return seen, err
	})
}

// increment increments a node's counter, like workload instance.
func (*podWorkload) increment(ctx context.Context, p *workload.Process, key, node string, in instance.CounterCall) (instance.CounterSeen, error) {
	at := memberKey(key, node)
	return workload.Call(ctx, p, instance.CallIncrement, at, true, in, func(ctx context.Context) (instance.CounterSeen, error) {
		ctx, attempts := workload.Counting(ctx)
		reply, err := p.Client.Instances().Signal(ctx, memberRef(p, key, node), instance.SignalOf(p, instance.CallIncrement, at, in))
		if err != nil {
			return instance.CounterSeen{}, err
		}
		return instance.CounterSeen{Node: reply.Node, Epoch: reply.Epoch, Rev: reply.Rev, First: attempts.Load() == 1 && !in.Again}, nil
	})
}

// counter reads the stored state of a node.
func (*podWorkload) counter(ctx context.Context, p *workload.Process, key, node string) (instance.CounterSeen, error) {
	return workload.Call(ctx, p, workload.CallRead, memberKey(key, node), false, instance.CounterCall{}, func(ctx context.Context) (instance.CounterSeen, error) {
		return instance.StoredCounter(ctx, p, memberRef(p, key, node))
	})
}
