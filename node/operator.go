package node

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/cluster/keys"
	"dormouse/fsm"
	"dormouse/internal/retry"
)

const (
	// askMax bounds the status request to each other member.
	askMax = 500 * time.Millisecond
	// catchUpMax bounds how long the answer to a refused change waits for this node's state.
	catchUpMax = 2 * time.Second
)

// operator implements layout.Operator on one node.
type operator struct{ node *Node }

// Status implements layout.Operator.
func (o *operator) Status(ctx context.Context) (layout.ClusterStatus, error) {
	n := o.node
	local := n.group.LocalStatus()
	status := layout.ClusterStatus{
		ClusterID: local.ClusterID, Node: local.Node, Leader: local.Leader, Term: local.Term,
		CommitIndex: local.CommitIndex, AppliedIndex: local.AppliedIndex, Chain: local.Chain,
		FeatureLevel: n.machine.FeatureLevel(), Version: local.Version, Members: n.group.Members(),
		Auth: n.o.Config.Auth.Mode, Insecure: n.o.Config.Node.Insecure,
	}
	var asked sync.WaitGroup
	asked.Go(func() { status.Backup = backupStatus(ctx, n) })
	seen := map[string]string{}
	for _, member := range n.gossip.Members() {
		seen[member.Name] = string(member.Status)
	}
	drained := drainedSince(n.machine.DrainedNodes())
	for i := range status.Members {
		member := &status.Members[i]
		member.DrainedAt = drained[member.ID]
		if member.ID == local.Node {
			member.Status, member.AppliedIndex = "alive", local.AppliedIndex
			member.DiskFree, member.LastContact = local.DiskFree, time.Now().UnixMilli()
			continue
		}
		if s, ok := seen[member.ID]; ok && !member.Host { // a node of a host's name may have left
			member.Status = s
		}
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, askMax)
			defer cancel()
			if s, err := n.pool.Status(ctx, member.RaftAddr); err == nil {
				member.AppliedIndex, member.DiskFree = s.AppliedIndex, s.DiskFree
			}
			member.LastContact = n.pool.LastContact(member.RaftAddr)
		})
	}
	asked.Wait()
	return status, nil
}

// Change implements layout.Operator: the leader makes the change, whichever node is called.
func (o *operator) Change(ctx context.Context, change layout.Change, node string) (string, error) {
	switch change {
	case layout.ChangeDrain:
		return o.setRule(ctx, assign.Rule{Kind: assign.RuleDrain, Node: node})
	case layout.ChangeResume:
		return o.setRule(ctx, assign.Rule{Kind: assign.RuleResume, Node: node})
	default:
		return o.changeMembers(ctx, change, node)
	}
}

// changeMembers asks the leader for a change until it is made or refused. A change that an attempt
// without an answer has made is not refused afterwards.
func (o *operator) changeMembers(ctx context.Context, change layout.Change, node string) (string, error) {
	attempts := retry.New(50*time.Millisecond, time.Second)
	n := o.node
	leaves := change == layout.ChangeLeave && o.isMember(node)
	open := false // an earlier attempt had no answer, and may have made the change
	for {
		answer := n.group.HandleChange(ctx, string(change), node)
		open = open || answer.Begun
		if !answer.Done && answer.Refused == "" && answer.LeaderAddr != "" && answer.LeaderAddr != n.group.Addr() {
			forwarded, err := n.pool.Change(ctx, answer.LeaderAddr, string(change), node)
			if err == nil {
				answer = forwarded
			}
			open = open || !forwarded.Done && forwarded.Refused == "" // also after an error
		}
		switch {
		case answer.Refused != "":
			return answer.Leader, o.refusal(ctx, answer.Refused, node, leaves && open)
		case answer.Done:
			return answer.Leader, nil
		}
		if !attempts.Wait(ctx) {
			return "", mayBeMade()
		}
	}
}

// mayBeMade returns the error of a change whose outcome is unknown.
func mayBeMade() error {
	return agent.Errorf(agent.CodeUnknown, "the change may still be made: check the members, and try again")
}

// refusal returns the error of a change that the leader refused. Whether the log has the member
// decides its code, so this node catches up first. If it cannot in time, only the leader's reason
// counts. mayHaveLeft says that an earlier attempt may have removed the member: if it is gone, the
// change is made, and refusal returns nil.
func (o *operator) refusal(ctx context.Context, why, member string, mayHaveLeft bool) error {
	if member != "" {
		ctx, cancel := context.WithTimeout(ctx, catchUpMax)
		defer cancel()
		err := o.catchUp(ctx)
		switch {
		case err != nil && mayHaveLeft:
			return mayBeMade()
		case err != nil || o.isMember(member):
		case mayHaveLeft:
			return nil
		default:
			return agent.Errorf(agent.CodeNotFound, "no member is called %q", member)
		}
	}
	return agent.Errorf(agent.CodeConflict, "%s", why)
}

// isMember reports whether a node is a member, as far as this node has applied the log.
func (o *operator) isMember(node string) bool {
	return slices.ContainsFunc(o.node.machine.Members(), func(m layout.Member) bool { return m.ID == node })
}

// catchUp waits until this node has applied all that was committed before the call.
func (o *operator) catchUp(ctx context.Context) error {
	index, err := o.node.router.Barrier(ctx)
	if err != nil {
		return err
	}
	if err := o.node.machine.WaitApplied(ctx, index); err != nil {
		return agent.Errorf(agent.CodeUnavailable, "this node has not caught up: %v", err)
	}
	return nil
}

// JoinToken implements layout.Operator. The token names the Raft addresses of all nodes, this one's
// first.
func (o *operator) JoinToken(_ context.Context, ttl time.Duration) (layout.JoinToken, error) {
	if ttl == 0 {
		ttl = keys.TokenTTL
	}
	if ttl < time.Second || ttl > layout.JoinTokenTTLMax {
		return layout.JoinToken{}, agent.Invalid("ttl_ms", "a join token is valid for 1 s to %v, not for %v", layout.JoinTokenTTLMax, ttl)
	}
	n := o.node
	addrs := []string{n.group.Addr()}
	for _, m := range n.machine.Members() {
		if m.ID != n.o.Config.Node.ID && !m.Host && m.RaftAddr != "" {
			addrs = append(addrs, m.RaftAddr)
		}
	}
	token := n.secrets.ring.NewToken(time.Now().Add(ttl), addrs)
	return layout.JoinToken{Secret: token.Encode(), ExpiresAt: token.Expires().UnixMilli()}, nil
}

// ExportScope implements layout.Operator. It first brings this node's state up to date, and exports
// a view of it.
func (o *operator) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	n := o.node
	if scope == "" {
		scope = agent.DefaultScope
	}
	if err := agent.ValidID("scope", scope); err != nil {
		return err
	}
	if err := o.catchUp(ctx); err != nil {
		return err
	}
	level := n.machine.FeatureLevel()
	if level < fsm.ImportLevel {
		return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support exports of this version yet: try again once they do")
	}
	view := n.machine.View()
	defer view.Close()
	return view.ExportScope(ctx, scope, n.group.LocalStatus().ClusterID, level, write)
}

// Backup implements layout.Operator. It first brings this node's state up to date, and writes a cut
// of it.
func (o *operator) Backup(ctx context.Context, w io.Writer) error {
	n := o.node
	if err := o.catchUp(ctx); err != nil {
		return err
	}
	if err := n.machine.WriteBackup(w); err != nil {
		return agent.Errorf(agent.CodeInternal, "write the backup: %v", err)
	}
	return nil
}
