package assign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
)

// RuleKind is the kind of a Rule.
type RuleKind string

// The kinds of rules.
const (
	RuleDrain  RuleKind = "drain"  // the node may own no partitions
	RuleResume RuleKind = "resume" // it may own some again
	RulePin    RuleKind = "pin"    // the node is to own the partition
	RuleUnpin  RuleKind = "unpin"  // the partition is placed as others are
)

// Rule is a change of where partitions may be, by an operator.
type Rule struct {
	Kind      RuleKind
	Node      string // of RuleDrain, RuleResume and RulePin
	Partition int    // of RulePin and RuleUnpin
}

func (a *Assigner) isDrained(node string) bool {
	return slices.ContainsFunc(a.Table.DrainedNodes(), func(d layout.DrainedNode) bool { return d.Node == node })
}

// MayLeave returns why a node may not be removed: all other nodes that could own its
// partitions are drained. It returns "" if the node may be removed.
func (a *Assigner) MayLeave(node string) (refused string) {
	if a.Table == nil || a.isDrained(node) || len(a.Table.DrainedNodes()) == 0 || len(a.Eligible(node)) > 0 {
		return ""
	}
	return fmt.Sprintf("all other nodes that could own the partitions of node %s are drained: resume one first", node)
}

// HandleRule makes a rule on the leader. The moves that follow from it begin at
// once, and HandleRule does not wait for them.
func (a *Assigner) HandleRule(ctx context.Context, r Rule) Response {
	id, addr := a.Leadership.Leader()
	elsewhere := Response{Leader: id, LeaderAddr: addr}
	if a.Table == nil || !a.Leadership.IsLeader() {
		return elsewhere
	}
	// Nodes of an older version cannot apply a rule.
	if level := a.Machine.FeatureLevel(); level < layout.RulesLevel {
		return Response{Refused: agent.CodeConflict, Detail: fmt.Sprintf("the cluster is at feature level %d, and this needs level %d: upgrade all nodes first", level, layout.RulesLevel)}
	}
	var cmd []byte
	switch r.Kind {
	case RuleDrain, RuleResume:
		cmd = a.Table.EncodeDrainNode(r.Node, r.Kind == RuleDrain)
	case RulePin:
		if refused := a.unfit(r); refused != "" {
			return Response{Refused: agent.CodeConflict, Detail: refused}
		}
		cmd = a.Table.EncodePinPartition(r.Partition, r.Node)
	case RuleUnpin:
		cmd = a.Table.EncodePinPartition(r.Partition, "")
	default:
		return Response{Refused: agent.CodeInvalid, Detail: fmt.Sprintf("unknown kind of rule %q", r.Kind)}
	}
	index, err := a.Commit(ctx, cmd)
	if err == nil {
		return Response{Leader: id, LeaderAddr: addr, Index: index}
	}
	var refusal *agent.Error
	if errors.As(err, &refusal) && refusal.Final {
		return Response{Refused: refusal.Code, Detail: refusal.Detail}
	}
	return elsewhere
}

// unfit returns why a member that has a lease and is not drained cannot own
// partitions; "" for any other, which the state machine judges.
func (a *Assigner) unfit(r Rule) string {
	leased := slices.ContainsFunc(a.Table.NodeLeases(), func(l layout.NodeLease) bool { return l.Node == r.Node })
	fit := slices.ContainsFunc(a.Eligible(""), func(n placement.Node) bool { return n.Name == r.Node })
	switch {
	case !leased || fit || a.isDrained(r.Node):
		return ""
	case a.isLeaving(r.Node):
		return fmt.Sprintf("node %q is being removed, so it cannot own partition %d", r.Node, r.Partition)
	default:
		return fmt.Sprintf("%q cannot own partition %d, because it lacks Go handlers that other members have: dormctl placement ls shows them", r.Node, r.Partition)
	}
}
