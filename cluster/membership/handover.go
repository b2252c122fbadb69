package membership

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/proposer"
	"dormouse/cluster/transport"
	"dormouse/internal/pause"
)

const (
	// handoverMax bounds how long nothing is proposed while leadership is handed
	// over: a little more than two elections at the default timing.
	handoverMax = 3 * time.Second
	// handoverPoll is the time between two requests for how far a voter is.
	handoverPoll = 5 * time.Millisecond
)

var errHandoverTimeout = fmt.Errorf("it took longer than %v", handoverMax)

// Handover hands leadership to another voter.
type Handover struct {
	*Roster
	Proposer      *proposer.Proposer
	Term          *atomic.Pointer[proposer.Term]
	Guard         *transport.Guard
	Addr          string // of this node
	LeaderChanged func() <-chan struct{}
	Logger        hclog.Logger
}

// MakeWay hands leadership to any other voter if this node leads. It returns false
// if this node goes on leading.
func (h *Handover) MakeWay(ctx context.Context) bool {
	if h.Raft.State() != raft.Leader {
		return true
	}
	if len(h.OtherVoters(h.Self.Node)) == 0 {
		return false
	}
	err := h.To(ctx, "")
	if err == nil || h.Raft.State() != raft.Leader {
		return true
	}
	h.Logger.Warn("leadership was not handed over; the others will elect a leader", "error", err)
	return false
}

// To hands leadership to node, or if node is "" to the first voter that has all
// entries (Ongaro's dissertation, §3.10). Nothing is proposed meanwhile, and a
// voter that has all entries is told to stand for election at once. To returns
// once another node leads. If it fails, this node goes on if it still leads.
//
// Raft 1.7.3's own transfer may wait without a bound for a replication that has
// ended, and then refuses every entry when this node leads again.
func (h *Handover) To(ctx context.Context, node string) error {
	term := h.Term.Load()
	if term == nil {
		return proposer.ErrNotLeader()
	}
	var voters []raft.Server
	for _, v := range h.OtherVoters(h.Self.Node) {
		if node == "" || node == string(v.ID) {
			voters = append(voters, v)
		}
	}
	if err := h.anyAnswers(ctx, voters); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, handoverMax, errHandoverTimeout)
	defer cancel()
	resume, err := h.Proposer.Hold(ctx)
	if err != nil {
		return fmt.Errorf("wait for the entry in flight: %w", err)
	}
	defer resume()
	if err := h.callElection(ctx, term, voters); err != nil {
		return err
	}
	return h.awaitAnother(ctx)
}

// anyAnswers returns once one of the voters answers. All writes wait during a handover, and its caller
// repeats one that fails: without a voter that answers it must not begin.
func (h *Handover) anyAnswers(ctx context.Context, voters []raft.Server) error {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	answers := make(chan error, len(voters))
	for _, v := range voters {
		asking.Go(func() {
			_, err := h.status(ctx, string(v.Address))
			answers <- err
		})
	}
	failed := errors.New("no other voter answers")
	for range voters {
		err := <-answers
		if err == nil {
			return nil
		}
		failed = fmt.Errorf("%w; %w", failed, err)
	}
	return failed
}

// callElection tells one voter to stand for election: the first that has all
// entries and does not refuse.
func (h *Handover) callElection(ctx context.Context, term *proposer.Term, voters []raft.Server) error {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	type candidate struct {
		raft.Server
		err error // why it cannot lead
	}
	candidates := make(chan candidate, len(voters))
	for _, v := range voters {
		asking.Go(func() { candidates <- candidate{v, h.awaitEntries(ctx, term, v)} })
	}
	failed := errors.New("no other voter can lead")
	for range voters {
		c := <-candidates
		if c.err == nil {
			c.err = h.timeoutNow(ctx, c.Server)
		}
		if c.err == nil {
			return nil
		}
		failed = fmt.Errorf("%w; %s: %w", failed, c.ID, c.err)
	}
	return failed
}

// awaitEntries waits until v's log holds all entries of this leader. It fails if v
// does not answer.
func (h *Handover) awaitEntries(ctx context.Context, term *proposer.Term, v raft.Server) error {
	for {
		last := h.Raft.LastIndex()
		status, err := h.status(ctx, string(v.Address))
		switch {
		case err != nil:
			return err
		case hasAll(status, string(v.ID), term, last):
			return nil
		}
		pause.For(ctx, handoverPoll)
		if ctx.Err() != nil {
			return fmt.Errorf("it has %d of %d entries: %w", status.LastIndex, last, context.Cause(ctx))
		}
	}
}

// hasAll reports whether a node's log holds all entries of the leader of term, up to last,
// and the node may lead. An entry that it has committed in this term shows that it has no
// entries of other leaders left.
func hasAll(status PeerStatus, node string, term *proposer.Term, last uint64) bool {
	return status.Node == node && status.Term == term.Number && !status.CatchingUp &&
		status.CommitIndex >= term.Opened && status.LastIndex >= last
}

// timeoutNow sends Raft's TimeoutNow call and waits for the answer until ctx ends.
// The call's goroutine ends within transport.Timeout.
func (h *Handover) timeoutNow(ctx context.Context, v raft.Server) error {
	self := raft.ServerID(h.Self.Node)
	request := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(self), Addr: h.Guard.EncodePeer(self, raft.ServerAddress(h.Addr)),
	}}
	answered := make(chan error, 1)
	go func() { answered <- h.Guard.TimeoutNow(v.ID, v.Address, request, &raft.TimeoutNowResponse{}) }()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitAnother waits until this node knows that another one leads.
func (h *Handover) awaitAnother(ctx context.Context) error {
	for {
		changed := h.LeaderChanged()
		if _, id := h.Raft.LeaderWithID(); id != "" && string(id) != h.Self.Node {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the new leader: %w", context.Cause(ctx))
		}
	}
}
