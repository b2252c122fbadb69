package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"dormouse/agent"
)

// changeFunc asks raft for a change of its configuration.
type changeFunc func(*raft.Raft) raft.Future

// learner replicates to a node without giving it a vote; of one that is there
// already it changes the address only.
func learner(node, addr string) changeFunc {
	return func(r *raft.Raft) raft.Future {
		return r.AddNonvoter(raft.ServerID(node), raft.ServerAddress(addr), 0, enqueueMax)
	}
}

func voter(node, addr string) changeFunc {
	return func(r *raft.Raft) raft.Future {
		return r.AddVoter(raft.ServerID(node), raft.ServerAddress(addr), 0, enqueueMax)
	}
}

func demote(node string) changeFunc {
	return func(r *raft.Raft) raft.Future { return r.DemoteVoter(raft.ServerID(node), 0, enqueueMax) }
}

func remove(node string) changeFunc {
	return func(r *raft.Raft) raft.Future { return r.RemoveServer(raft.ServerID(node), 0, enqueueMax) }
}

// change runs one change and waits until it is committed.
func (g *Group) change(ctx context.Context, f changeFunc) error {
	ctx, cancel := context.WithTimeout(ctx, changeMax)
	defer cancel()
	return wait(ctx, f(g.raft))
}

// HandleChange does what an operator asks for, on the leader. A change that
// would leave the cluster without a voter, or without a quorum that answers,
// is refused.
func (g *Group) HandleChange(ctx context.Context, kind, node string) ChangeResponse {
	ctx, cancel := context.WithTimeout(ctx, 2*changeMax)
	defer cancel()
	id, addr := g.Leader()
	if g.ready.Load() == nil || !g.beginChange(ctx) {
		return ChangeResponse{Leader: id, LeaderAddr: addr}
	}
	defer g.endChange()
	var refused string
	var err error
	switch kind {
	case string(agent.ChangeLeave), "remove":
		refused, err = g.dismiss(ctx, node)
	case string(agent.ChangeDemote):
		refused, err = g.silence(ctx, node)
	case string(agent.ChangePromote):
		refused, err = g.want(ctx, node, true)
	case string(agent.ChangeTransfer):
		refused, err = g.transfer(ctx, node)
	default:
		refused = fmt.Sprintf("unknown change %q: want leave, promote, demote or transfer", kind)
	}
	id, addr = g.Leader()
	answer := ChangeResponse{Leader: id, LeaderAddr: addr, Refused: refused, Done: refused == "" && err == nil}
	if err != nil && !errors.Is(err, errElsewhere) {
		g.logger.Warn("a change of membership did not come through", "kind", kind, "node", node, "error", err)
	}
	return answer
}

// errElsewhere tells that leadership was handed over first, so that the new
// leader can do what was asked.
var errElsewhere = errors.New("the new leader is to do it")

// dismiss removes a node for good.
func (g *Group) dismiss(ctx context.Context, node string) (refused string, err error) {
	row, known := g.member(node)
	_, served := g.servers()[node]
	if !known && !served {
		return fmt.Sprintf("no member is called %q", node), nil
	}
	if refused, err = g.stepAside(ctx, node); refused != "" || err != nil {
		return refused, err
	}
	defer g.vacate(ctx, node)()
	// The row first: once it is gone, the leader's duties finish the rest even
	// if this leader does not live to.
	if known {
		if err := g.commit(ctx, g.machine.EncodeRemoveMember(row.ID, row.Incarnation)); err != nil {
			return "", err
		}
	}
	return "", g.change(ctx, remove(node))
}

// silence takes a node's vote.
func (g *Group) silence(ctx context.Context, node string) (refused string, err error) {
	if _, known := g.member(node); !known {
		return fmt.Sprintf("no member is called %q", node), nil
	}
	if refused, err = g.stepAside(ctx, node); refused != "" || err != nil {
		return refused, err
	}
	if refused, err = g.want(ctx, node, false); refused != "" || err != nil {
		return refused, err
	}
	if !g.isVoter(node) {
		return "", nil
	}
	return "", g.change(ctx, demote(node))
}

// stepAside checks that the cluster can do without node's vote, and hands
// leadership over where node has it.
func (g *Group) stepAside(ctx context.Context, node string) (refused string, err error) {
	if !g.isVoter(node) {
		return "", nil
	}
	if why := g.quorumWithout(ctx, node); why != "" {
		return why, nil
	}
	if node != g.o.NodeID {
		return "", nil
	}
	if refused, err = g.transfer(ctx, ""); refused != "" || err != nil {
		return refused, err
	}
	return "", errElsewhere
}

// want notes whether a node is to have a vote.
func (g *Group) want(ctx context.Context, node string, vote bool) (refused string, err error) {
	row, known := g.member(node)
	if !known {
		return fmt.Sprintf("no member is called %q", node), nil
	}
	if row.WantVote == vote {
		return "", nil
	}
	row.WantVote = vote
	return "", g.commit(ctx, g.machine.EncodePutMember(row))
}

// transfer hands leadership to node, or to any voter where node is "".
func (g *Group) transfer(ctx context.Context, node string) (refused string, err error) {
	if node == g.o.NodeID {
		return "", nil
	}
	if len(g.otherVoters(g.o.NodeID)) == 0 {
		return "there is no other voter to hand leadership to", nil
	}
	if node != "" && !g.isVoter(node) {
		return fmt.Sprintf("node %q has no vote, so it cannot lead", node), nil
	}
	if err := g.handOver(ctx, node); err != nil {
		return "", fmt.Errorf("hand leadership over: %w", err)
	}
	return "", nil
}

func (g *Group) isVoter(node string) bool {
	s, known := g.servers()[node]
	return known && s.Suffrage == raft.Voter
}

// quorumWithout says why the cluster cannot do without node's vote now; "" if
// it can: a majority of the other voters answers.
func (g *Group) quorumWithout(ctx context.Context, node string) string {
	others := g.otherVoters(node)
	if len(others) == 0 {
		return fmt.Sprintf("node %s is the last voter: the cluster could decide nothing without it", node)
	}
	var alive atomic.Int32
	var asking sync.WaitGroup
	for _, s := range others {
		if string(s.ID) == g.o.NodeID {
			alive.Add(1)
			continue
		}
		asking.Go(func() {
			if status, err := g.askStatus(ctx, string(s.Address)); err == nil && status.ClusterID == g.self.ClusterID() {
				alive.Add(1)
			}
		})
	}
	asking.Wait()
	if need := len(others)/2 + 1; int(alive.Load()) < need {
		return fmt.Sprintf("without node %s there are %d voters, of which %d answer and %d are needed: bring one back first", node, len(others), alive.Load(), need)
	}
	return ""
}
