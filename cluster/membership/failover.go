package membership

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/transport"
	"dormouse/internal/pause"
)

const (
	// probeMax bounds one connection attempt to the leader, and one request to a voter.
	probeMax = 200 * time.Millisecond
	// agreeMax bounds how long a voter waits until others agree that the leader's process
	// has ended. Then Raft's own timeout ends the term.
	agreeMax = time.Second
	// agreeEvery is the time between two rounds of requests.
	agreeEvery = 10 * time.Millisecond
	// standAfter is how long a voter waits for each voter that is to stand before it.
	standAfter = 150 * time.Millisecond
)

// Failover makes a voter stand for election as soon as the leader's process has ended,
// before Raft's timeout. When a process ends, its connections are closed, and its port
// refuses others: a partition or a slow node does not look so. Voters stand only if a
// majority of all voters agrees, and the one with the most entries stands first. Safety
// does not depend on any of this: Raft elects as it always does.
type Failover struct {
	*Roster
	Guard  *transport.Guard
	Stream *transport.Stream
	Logger hclog.Logger

	closed chan transport.Identity // capacity 16: nodes whose last connection was closed
	ended  atomic.Pointer[endedLeader]
}

// endedLeader is a leader whose process has ended, as far as this node can see.
type endedLeader struct {
	node string
	term uint64
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

// LeaderEnded reports whether the process of this term's leader has ended, as far as this
// node can see.
func (f *Failover) LeaderEnded() bool {
	ended := f.ended.Load()
	return ended != nil && ended.term == f.Raft.CurrentTerm()
}

// Run watches the leader's process until ctx ends.
func (f *Failover) Run(ctx context.Context) error {
	for {
		select {
		case peer := <-f.closed:
			f.consider(ctx, peer)
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
	ctx, cancel := context.WithTimeout(ctx, agreeMax)
	defer cancel()
	if !f.hasEnded(ctx, string(addr), peer) {
		return
	}
	f.ended.Store(&endedLeader{peer.Node, term})
	if !f.isVoter(f.Self.Node) {
		return
	}
	for f.LeaderEnded() {
		rank, agreed := f.rank(ctx, peer.Node, term)
		if agreed && pause.For(ctx, time.Duration(rank)*standAfter) && f.LeaderEnded() {
			f.Logger.Info("the leader's process has ended: this node stands for election", "leader", peer.Node, "term", term)
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
	ctx, cancel := context.WithTimeout(ctx, probeMax)
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
// agrees that the leader's process has ended.
func (f *Failover) rank(ctx context.Context, leader string, term uint64) (rank int, agreed bool) {
	voters := f.OtherVoters(f.Self.Node)
	answers := make([]PeerStatus, len(voters))
	var asking sync.WaitGroup
	for i, v := range voters {
		if string(v.ID) == leader {
			continue
		}
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, probeMax)
			defer cancel()
			answers[i], _ = f.status(ctx, string(v.Address)) // one that does not answer does not agree
		})
	}
	asking.Wait()
	agree, own := 1, f.Raft.LastIndex()
	for _, a := range answers {
		switch {
		case a.Term > term:
			return 0, false // an election is under way
		case a.Term < term || !a.LeaderEnded: // also one that did not answer
			continue
		case !a.CatchingUp && (a.LastIndex > own || a.LastIndex == own && a.Node < f.Self.Node):
			rank++
		}
		agree++
	}
	return rank, 2*agree > len(voters)+1
}
