package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/internal/pause"
)

const (
	// handOverMax bounds how long nothing is proposed while leadership is handed
	// over: two elections at the default timing, and some.
	handOverMax = 3 * time.Second
	// handOverPoll paces questions for how far a voter is.
	handOverPoll = 5 * time.Millisecond
)

var errHandOverTimeout = fmt.Errorf("it took longer than %v", handOverMax)

// handOver gives leadership to node, or where node is "" to the first voter
// that has all that this leader has (Ongaro's thesis, 3.10): nothing is proposed
// meanwhile, and who has everything is told to stand at once. It returns once
// another node leads; where it fails, this one goes on if it still does.
//
// Raft 1.7.3 has a transfer of its own. It may wait for ever for a replication
// that has ended meanwhile, and then refuses every entry wherever this node
// leads again.
func (g *Group) handOver(ctx context.Context, node string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handOverMax, errHandOverTimeout)
	defer cancel()
	term := g.ready.Load()
	if term == nil {
		return errNotLeader()
	}
	resume, err := g.proposer.hold(ctx)
	if err != nil {
		return fmt.Errorf("wait for the entry in flight: %w", err)
	}
	defer resume()
	var voters []raft.Server
	for _, v := range g.otherVoters(g.o.NodeID) {
		if node == "" || node == string(v.ID) {
			voters = append(voters, v)
		}
	}
	if err := g.callOn(ctx, term, voters); err != nil {
		return err
	}
	return g.awaitAnother(ctx)
}

// callOn tells one voter to stand for election: the first that has everything
// and does not refuse.
func (g *Group) callOn(ctx context.Context, term *readiness, voters []raft.Server) error {
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
		asking.Go(func() { candidates <- candidate{v, g.awaitAll(ctx, term, v)} })
	}
	failed := errors.New("nobody else can lead")
	for range voters {
		c := <-candidates
		if c.err == nil {
			c.err = g.timeoutNow(ctx, c.Server)
		}
		if c.err == nil {
			return nil
		}
		failed = fmt.Errorf("%w; %s: %w", failed, c.ID, c.err)
	}
	return failed
}

// awaitAll waits until v's log holds all that this leader's does, or v does not
// answer. What v has committed in this term shows that no other leader's tail is
// left in it.
func (g *Group) awaitAll(ctx context.Context, term *readiness, v raft.Server) error {
	for {
		last := g.raft.LastIndex()
		status, err := g.askStatus(ctx, string(v.Address))
		switch {
		case err != nil:
			return err
		case status.Node == string(v.ID) && status.Term == term.term && !status.CatchingUp &&
			status.CommitIndex >= term.opened && status.LastIndex >= last:
			return nil
		}
		pause.For(ctx, handOverPoll)
		if ctx.Err() != nil {
			return fmt.Errorf("it has %d of %d entries: %w", status.LastIndex, last, context.Cause(ctx))
		}
	}
}

// timeoutNow is raft's call of that name, not waited for past ctx. The call's
// goroutine ends with it, within transport.Timeout.
func (g *Group) timeoutNow(ctx context.Context, v raft.Server) error {
	self := raft.ServerID(g.o.NodeID)
	request := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(self), Addr: g.guard.EncodePeer(self, raft.ServerAddress(g.Addr())),
	}}
	answered := make(chan error, 1)
	go func() { answered <- g.guard.TimeoutNow(v.ID, v.Address, request, &raft.TimeoutNowResponse{}) }()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitAnother waits until another node is known to lead.
func (g *Group) awaitAnother(ctx context.Context) error {
	for {
		changed := g.LeaderChanged()
		if id, _ := g.Leader(); id != "" && id != g.o.NodeID {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the new leader: %w", context.Cause(ctx))
		}
	}
}

// hold makes p send nothing until resume is called: what comes waits. It
// returns once nothing is in flight, or with ctx's error and nothing held.
func (p *proposer) hold(ctx context.Context) (resume func(), err error) {
	p.mu.Lock()
	if p.holds == 0 {
		p.quiet = make(chan struct{})
	}
	p.holds++
	quiet := p.quiet
	p.mu.Unlock()
	p.nudge()
	resume = func() {
		p.mu.Lock()
		p.holds--
		p.mu.Unlock()
		p.nudge()
	}
	select {
	case <-quiet:
		return resume, nil
	case <-ctx.Done():
		resume()
		return nil, context.Cause(ctx)
	}
}

// held tells whether nothing is to be sent now; run asks while nothing is in
// flight, which whoever holds it is told.
func (p *proposer) held() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holds == 0 {
		return false
	}
	select {
	case <-p.quiet:
	default:
		close(p.quiet)
	}
	return true
}
