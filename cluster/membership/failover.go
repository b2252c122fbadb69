package membership

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/transport"
	"dormouse/internal/pause"
)

// agreeEvery is the time between two rounds of requests.
const agreeEvery = 10 * time.Millisecond

// FailoverTiming is how fast voters replace a leader before Raft's timeout.
type FailoverTiming struct {
	// Silence is how long a voter waits without a message of the leader before it looks
	// whether the leader still answers; 0 means that it never looks. A leader sends a
	// heartbeat every tenth to fifth of Raft's heartbeat timeout.
	Silence time.Duration
	// Answer is how long a leader has to answer then.
	Answer time.Duration
	// Probe bounds one connection attempt to a leader that may have ended, and one request
	// to a voter.
	Probe time.Duration
	// Agree bounds how long a voter waits until others agree. Then Raft's own timeout ends
	// the term.
	Agree time.Duration
	// Stand is how long a voter waits for each voter that is to stand before it.
	Stand time.Duration
}

// Failover makes a voter stand for election as soon as the leader's process has ended or
// does not answer, before Raft's timeout. When a process ends, its connections are closed,
// and its port refuses others: a partition or a slow node does not look so. A machine that
// vanishes, or a process that hangs, sends no heartbeats and answers no handshake. Voters
// stand only if a majority of all voters agrees, and the one with the most entries stands
// first. Safety does not depend on any of this: Raft elects as it always does.
type Failover struct {
	*Roster
	Guard  *transport.Guard
	Stream *transport.Stream
	Timing FailoverTiming
	Logger hclog.Logger

	closed chan transport.Identity // capacity 16: nodes whose last connection was closed
	lost   atomic.Pointer[lostLeader]
}

// lostLeader is a leader whose process has ended or does not answer, as far as this node
// can see.
type lostLeader struct {
	node   string
	term   uint64
	silent bool      // it does not answer; it may have ended or not
	heard  time.Time // its last message, if it is silent
}

// NewFailover returns a Failover without its parts. Closed may be called at once.
func NewFailover() *Failover { return &Failover{closed: make(chan transport.Identity, 16)} }

// Closed records that the last connection from a node has been closed. It never blocks.
func (f *Failover) Closed(peer transport.Identity) {
	select {
	case f.closed <- peer:
	default: // Raft's timeout notices it
	}
}

// LeaderEnded reports whether the process of this term's leader has ended or does not
// answer, as far as this node can see.
func (f *Failover) LeaderEnded() bool {
	lost := f.lost.Load()
	return lost != nil && lost.term == f.Raft.CurrentTerm() && (!lost.silent || lost.heard.Equal(f.Raft.LastContact()))
}

// StandAlone makes this node stand for election if it is the only voter. No other node can lead then, so that the node
// need not wait for Raft's timeout.
func (f *Failover) StandAlone() {
	if !f.isVoter(f.Self.Node) || len(f.OtherVoters(f.Self.Node)) > 0 || f.Raft.State() != raft.Follower {
		return
	}
	if err := f.Guard.Stand(f.Self.Node); err != nil {
		f.Logger.Debug("this node, the only voter, did not stand for election at once", "error", err)
	}
}

// Run watches the leader's process until ctx ends. The only voter stands for election first.
func (f *Failover) Run(ctx context.Context) error {
	f.StandAlone()
	silence := time.NewTimer(f.untilSilent())
	defer silence.Stop()
	for {
		select {
		case peer := <-f.closed:
			f.consider(ctx, peer)
		case <-silence.C:
			f.considerSilent(ctx)
			silence.Reset(f.untilSilent())
		case <-ctx.Done():
			return nil
		}
	}
}

// consider makes this node stand for election if the peer was the leader and its process
// has ended.
func (f *Failover) consider(ctx context.Context, peer transport.Identity) {
	term := f.Raft.CurrentTerm()
	addr, leader := f.Raft.LeaderWithID()
	if string(leader) != peer.Node || peer.Node == f.Self.Node {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, f.Timing.Agree)
	defer cancel()
	if f.hasEnded(ctx, string(addr), peer) {
		f.replace(ctx, &lostLeader{node: peer.Node, term: term})
	}
}

// replace makes this node stand for election once a majority of all voters agrees that the
// leader is lost, until ctx ends.
func (f *Failover) replace(ctx context.Context, lost *lostLeader) {
	f.lost.Store(lost)
	if !f.isVoter(f.Self.Node) {
		return
	}
	for f.LeaderEnded() {
		rank, agreed := f.rank(ctx, lost.node, lost.term)
		if agreed && pause.For(ctx, time.Duration(rank)*f.Timing.Stand) && f.LeaderEnded() {
			f.Logger.Info("the leader is lost: this node stands for election", "leader", lost.node, "term", lost.term, "silent", lost.silent)
			if err := f.Guard.Stand(f.Self.Node); err != nil {
				f.Logger.Warn("this node did not stand for election", "error", err)
			}
			return
		}
		if !pause.For(ctx, agreeEvery) {
			return
		}
	}
}

// hasEnded reports whether the process of the peer has ended: its port refuses connections,
// or another process answers there. While the system ends the process it may accept a
// connection and then reset it: hasEnded tries again until ctx ends.
func (f *Failover) hasEnded(ctx context.Context, addr string, peer transport.Identity) bool {
	for {
		now, err := f.probe(ctx, addr)
		switch {
		case err == nil:
			return now.Process != peer.Process
		case errors.Is(err, syscall.ECONNREFUSED):
			return true
		}
		if !pause.For(ctx, agreeEvery) {
			return false
		}
	}
}

// probe returns the identity of the process that answers at a node's address.
func (f *Failover) probe(ctx context.Context, addr string) (transport.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, f.Timing.Probe)
	defer cancel()
	c, err := f.Stream.DialPeer(ctx, addr)
	if err != nil {
		return transport.Identity{}, err
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	now, _ := transport.IdentityOf(c)
	return now, nil
}

// rank returns how many voters are to stand before this node, if a majority of all voters
// agrees that the leader is lost.
func (f *Failover) rank(ctx context.Context, leader string, term uint64) (rank int, agreed bool) {
	voters := f.OtherVoters(f.Self.Node)
	answers := make([]PeerStatus, len(voters))
	var asking sync.WaitGroup
	for i, v := range voters {
		if string(v.ID) == leader {
			continue
		}
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, f.Timing.Probe)
			defer cancel()
			answers[i], _ = f.status(ctx, string(v.Address)) // one that does not answer does not agree
		})
	}
	asking.Wait()
	return rankAmong(answers, PeerStatus{Node: f.Self.Node, Term: term, LastIndex: f.Raft.LastIndex()})
}

// rankAmong is rank, from the answers of all other voters; one that did not answer has the
// zero value.
func rankAmong(answers []PeerStatus, own PeerStatus) (rank int, agreed bool) {
	agree := 1
	for _, a := range answers {
		switch {
		case a.Term > own.Term:
			return 0, false // an election is under way
		case a.Term < own.Term || !a.LeaderEnded: // also one that did not answer
			continue
		case !a.CatchingUp && (a.LastIndex > own.LastIndex || a.LastIndex == own.LastIndex && a.Node < own.Node):
			rank++
		}
		agree++
	}
	return rank, 2*agree > len(answers)+1
}
