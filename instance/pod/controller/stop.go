package controller

import (
	"context"
	"maps"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// stopAll stops all nodes, and replies with what is stored of them. It stops
// none of them if there are more than one request can read.
func (pt *podTurn) stopAll(ctx context.Context) error {
	var request pod.StopAll
	if err := decode(pt.turn, &request); err != nil {
		return err
	}
	result := pod.Rested{Nodes: map[string]pod.Stored{}, Failures: map[string]pod.Failure{}}
	if m, running := pt.slot.Running(); running {
		if !request.Teardown {
			_, err := pt.slot.Begin("", nil)
			return err
		}
		if err := pt.abortMutation(ctx, m, &result); err != nil {
			return err
		}
	}
	if !request.Teardown {
		if _, err := pt.inventory(ctx, "", member.version); err != nil {
			return err
		}
	}
	waves, err := pt.slot.Topology.StopWaves(pt.slot.Topology.Nodes)
	if err != nil {
		return err
	}
	for _, nodes := range waves {
		if err := pt.stopWave(ctx, nodes, pt.slot.Topology.Nodes, &result); err != nil {
			return err
		}
	}
	if !request.Teardown && len(result.Failures) == 0 {
		if err := pt.readStored(ctx, &result); err != nil {
			return err
		}
	}
	if err := pt.store(); err != nil {
		return err
	}
	return reply(pt.turn, result)
}

// abortMutation ends the running mutation of a pod that is torn down. It stops
// the nodes that the mutation has yet to stop. result is empty before.
func (pt *podTurn) abortMutation(ctx context.Context, m pod.Mutation, result *pod.Rested) error {
	for _, nodes := range m.Stop {
		if err := pt.stopWave(ctx, nodes, m.Removed, result); err != nil {
			return err
		}
	}
	pt.turn.Commit(&agent.DeleteTimer{Manager: pt.pod.Manager, Key: pt.pod.Key, ID: timerID(m.Step)})
	var err error
	pt.slot, err = pt.slot.Abort(pod.Outcome{Stopped: result.Stopped, Failures: result.Failures})
	return err
}

// stopWave stops the nodes of a wave. A transient error fails the turn, which
// may run again.
func (pt *podTurn) stopWave(ctx context.Context, nodes []string, which map[string]pod.Node, result *pod.Rested) error {
	done, err := pt.stopNodes(ctx, nodes, which)
	if err == nil {
		err = done.unreachable()
	}
	if err != nil {
		return err
	}
	maps.Copy(result.Failures, done.failures)
	result.Stopped = append(result.Stopped, done.succeeded(nodes)...)
	return nil
}

// readStored adds the stored versions of all nodes, at one index, to the
// result.
func (pt *podTurn) readStored(ctx context.Context, result *pod.Rested) error {
	all, err := pt.inventory(ctx, "", member.version)
	if err != nil {
		return err
	}
	result.Index = all.index
	for _, m := range all.members {
		if m.stored != nil {
			kept := pod.Stored{Manager: m.ref.Manager, Revision: m.stored.Revision}
			if m.stored.Thread != nil {
				kept.Rev = m.stored.Thread.Rev
			}
			result.Nodes[m.ref.Key] = kept
		}
	}
	return nil
}
