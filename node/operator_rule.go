package node

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/internal/retry"
)

// ruleMax bounds the wait for an operator's rule to be committed.
const ruleMax = 20 * time.Second

// PinPartition implements layout.Operator: the leader makes the rule, whichever node is called.
func (o *operator) PinPartition(ctx context.Context, partition int, node string) error {
	if partition < 0 || partition >= layout.Partitions {
		return layout.InvalidPartition(partition)
	}
	r := assign.Rule{Kind: assign.RulePin, Node: node, Partition: partition}
	if node == "" {
		r.Kind = assign.RuleUnpin
	}
	_, err := o.setRule(ctx, r)
	return err
}

// setRule asks the leader for a rule until it is made or refused, and waits until this node has
// applied it. It returns the leader.
func (o *operator) setRule(ctx context.Context, r assign.Rule) (leader string, err error) {
	ctx, cancel := context.WithTimeout(ctx, ruleMax)
	defer cancel()
	n := o.node
	for attempts := retry.New(50*time.Millisecond, time.Second); ; {
		answer := n.group.Partitions().HandleRule(ctx, r)
		if answer.Index == 0 && answer.Refused == "" && answer.LeaderAddr != "" && answer.LeaderAddr != n.group.Addr() {
			if forwarded, err := n.pool.SetRule(ctx, answer.LeaderAddr, r); err == nil {
				answer = forwarded
			}
		}
		switch {
		case answer.Refused != "":
			return answer.Leader, agent.Errorf(answer.Refused, "%s", answer.Detail)
		case answer.Index != 0:
			if n.machine.WaitApplied(ctx, answer.Index) == nil {
				return answer.Leader, nil
			}
		}
		if !attempts.Wait(ctx) {
			return "", agent.Errorf(agent.CodeUnknown, "the change may still be made: look at the placement, and try again")
		}
	}
}
