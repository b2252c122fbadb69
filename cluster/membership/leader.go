package membership

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/proposer"
	"dormouse/cluster/raftlog"
	"dormouse/cluster/transport"
	"dormouse/internal/failpoint"
	"dormouse/internal/pause"
)

// changeMax bounds one change of membership, from the request to Raft until it is
// committed.
const changeMax = 10 * time.Second

// dutiesInterval is the time between two rounds of a leader's duties.
const dutiesInterval = 500 * time.Millisecond

// Leader changes the members while this node leads. Its methods may be called
// concurrently.
type Leader struct {
	*Roster
	Followers *Followers
	Handover  *Handover
	Proposer  *proposer.Proposer
	Term      *atomic.Pointer[proposer.Term] // nil while this node does not lead
	Stream    *transport.Stream
	Stores    *raftlog.Stores
	Voters    Voters
	Logger    hclog.Logger

	// RefreshSnapshot takes a snapshot if a new node would otherwise have to apply
	// much of the log.
	RefreshSnapshot func(ctx context.Context)
	// Vacate drains the partitions of a node that is about to be removed. done
	// must be called once it is.
	Vacate func(ctx context.Context, node string) (done func())
	// MayLeave returns why no other node could own the partitions of a node that is
	// about to be removed; "" if one could, or if none could for other reasons than an
	// operator's.
	MayLeave func(node string) (refused string)

	changes chan struct{} // holds one token: a change of membership is under way
	slow    int           // rounds of duties in a row that found the disk slow; of Duties
	stuck   atomic.Bool   // this node leads with a full disk: no other node took over
}

// Init prepares the leader for use and returns it.
func (l *Leader) Init() *Leader {
	if l.Voters.DeadAfter == 0 {
		l.Voters.DeadAfter = voterDeadAfter
	}
	l.changes = make(chan struct{}, 1)
	return l
}

// begin waits until no other change of membership is under way. It returns false
// if ctx ends first.
func (l *Leader) begin(ctx context.Context) bool {
	select {
	case l.changes <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *Leader) end() { <-l.changes }

// commit proposes one of this node's own commits and waits for it.
func (l *Leader) commit(ctx context.Context, cmd []byte) error {
	_, err := l.Proposer.Commit(ctx, cmd)
	return err
}

// changeFunc asks Raft for a change of its configuration.
type changeFunc func(*raft.Raft) raft.Future

// addNonvoter replicates to a node without giving it a vote. If the node is a
// server already, only its address changes.
func addNonvoter(node, addr string) changeFunc {
	return func(r *raft.Raft) raft.Future {
		return r.AddNonvoter(raft.ServerID(node), raft.ServerAddress(addr), 0, proposer.EnqueueTimeout)
	}
}

func addVoter(node, addr string) changeFunc {
	return func(r *raft.Raft) raft.Future {
		return r.AddVoter(raft.ServerID(node), raft.ServerAddress(addr), 0, proposer.EnqueueTimeout)
	}
}

func demote(node string) changeFunc {
	return func(r *raft.Raft) raft.Future {
		return r.DemoteVoter(raft.ServerID(node), 0, proposer.EnqueueTimeout)
	}
}

func removeServer(node string) changeFunc {
	return func(r *raft.Raft) raft.Future {
		return r.RemoveServer(raft.ServerID(node), 0, proposer.EnqueueTimeout)
	}
}

// change runs one change and waits until it is committed.
func (l *Leader) change(ctx context.Context, f changeFunc) error {
	ctx, cancel := context.WithTimeout(ctx, changeMax)
	defer cancel()
	return raftlog.Wait(ctx, f(l.Raft))
}

// Duties does the work of a leader besides proposing until ctx ends, which is when
// the term does. It hands leadership over when the disk is nearly full, checks how
// far the followers are, and brings Raft's configuration in line with the member
// rows, one change at a time.
func (l *Leader) Duties(ctx context.Context) {
	defer l.Followers.keepOnly(nil)
	for ctx.Err() == nil {
		full := l.Stores.Writable() != nil
		l.stuck.Store(full && !l.Handover.MakeWay(ctx))
		l.checkFollowers(ctx)
		l.leaveSlowDisk(ctx)
		if l.begin(ctx) {
			l.reconcile(ctx)
			l.end()
		}
		pause.For(ctx, dutiesInterval)
	}
}

// Writable returns the error that refuses a proposal, or nil. If another node may
// take over, the caller should retry there.
func (l *Leader) Writable() error {
	err := l.Stores.Writable()
	if err != nil && !l.stuck.Load() && len(l.OtherVoters(l.Self.Node)) > 0 {
		return agent.Errorf(agent.CodeUnavailable, "the disk of this node is nearly full: it hands leadership over")
	}
	return err
}

// HandleChange carries out an operator's change: "leave" (or "remove"), "demote",
// "promote" or "transfer" of a node. It refuses a change that would leave the
// cluster without a voter or without a quorum that answers.
func (l *Leader) HandleChange(ctx context.Context, kind, node string) ChangeResponse {
	ctx, cancel := context.WithTimeout(ctx, 2*changeMax)
	defer cancel()
	if l.Term.Load() == nil || !l.begin(ctx) {
		return l.elsewhere()
	}
	defer l.end()
	var refused string
	var err error
	switch kind {
	case string(layout.ChangeLeave), "remove":
		refused, err = l.remove(ctx, node)
	case string(layout.ChangeDemote):
		refused, err = l.takeVote(ctx, node)
	case string(layout.ChangePromote):
		refused, err = l.setWantVote(ctx, node, true)
	case string(layout.ChangeTransfer):
		failpoint.At(failpoint.HandoverTransfer)
		refused, err = l.transfer(ctx, node)
	default:
		refused = fmt.Sprintf("unknown change %q: want leave, promote, demote or transfer", kind)
	}
	if err != nil && !errors.Is(err, errNewLeader) {
		l.Logger.Warn("a change of membership failed", "kind", kind, "node", node, "error", err)
	}
	answer := l.elsewhere()
	answer.Refused, answer.Done = refused, refused == "" && err == nil
	answer.Begun = refused == "" && err != nil && !errors.Is(err, errNewLeader)
	return answer
}

// elsewhere returns an answer that only names the leader.
func (l *Leader) elsewhere() ChangeResponse {
	addr, id := l.Raft.LeaderWithID()
	return ChangeResponse{Leader: string(id), LeaderAddr: string(addr)}
}

// errNewLeader says that this node has handed leadership over, and that the new
// leader must carry out the change.
var errNewLeader = errors.New("the new leader must carry out the change")

// remove removes a node for good.
func (l *Leader) remove(ctx context.Context, node string) (refused string, err error) {
	row, known := l.member(node)
	_, served := l.servers()[node]
	if !known && !served {
		return fmt.Sprintf("no member is called %q", node), nil
	}
	if refused = l.MayLeave(node); refused != "" {
		return refused, nil
	}
	if refused, err = l.stepAside(ctx, node); refused != "" || err != nil {
		return refused, err
	}
	defer l.Vacate(ctx, node)()
	if l.isVoter(node) { // Vacate takes seconds, in which other voters may have gone
		if refused = l.quorumWithout(ctx, node); refused != "" {
			return refused, nil
		}
	}
	// The row is removed first: without it, the duties of the next leader finish
	// the removal if this leader cannot.
	if known {
		if err := l.commit(ctx, l.Machine.EncodeRemoveMember(row.ID, row.Incarnation)); err != nil {
			return "", err
		}
	}
	return "", l.change(ctx, removeServer(node))
}

// takeVote takes a node's vote.
func (l *Leader) takeVote(ctx context.Context, node string) (refused string, err error) {
	if _, known := l.member(node); !known {
		return fmt.Sprintf("no member is called %q", node), nil
	}
	if refused, err = l.stepAside(ctx, node); refused != "" || err != nil {
		return refused, err
	}
	if refused, err = l.setWantVote(ctx, node, false); refused != "" || err != nil {
		return refused, err
	}
	if !l.isVoter(node) {
		return "", nil
	}
	return "", l.change(ctx, demote(node))
}

// stepAside checks that the cluster can do without node's vote. If node leads, it
// hands leadership over and returns errNewLeader.
func (l *Leader) stepAside(ctx context.Context, node string) (refused string, err error) {
	if !l.isVoter(node) {
		return "", nil
	}
	if why := l.quorumWithout(ctx, node); why != "" {
		return why, nil
	}
	if node != l.Self.Node {
		return "", nil
	}
	if refused, err = l.transfer(ctx, ""); refused != "" || err != nil {
		return refused, err
	}
	return "", errNewLeader
}

// setWantVote records in the member row whether a node is to have a vote.
func (l *Leader) setWantVote(ctx context.Context, node string, vote bool) (refused string, err error) {
	row, known := l.member(node)
	if !known {
		return fmt.Sprintf("no member is called %q", node), nil
	}
	if row.Host && vote {
		return fmt.Sprintf("node %q is a host: it keeps no data, so it cannot vote", node), nil
	}
	if row.WantVote == vote {
		return "", nil
	}
	row.WantVote = vote
	return "", l.commit(ctx, l.Machine.EncodePutMember(row))
}

// transfer hands leadership to node, or to any voter if node is "".
func (l *Leader) transfer(ctx context.Context, node string) (refused string, err error) {
	if node == l.Self.Node {
		return "", nil
	}
	if len(l.OtherVoters(l.Self.Node)) == 0 {
		return "there is no other voter to hand leadership to", nil
	}
	if node != "" && !l.isVoter(node) {
		return fmt.Sprintf("node %q has no vote, so it cannot lead", node), nil
	}
	if err := l.Handover.To(ctx, node); err != nil {
		return "", fmt.Errorf("hand leadership over: %w", err)
	}
	return "", nil
}
