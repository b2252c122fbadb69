package router

import (
	"context"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/seededbug"
	"dormouse/internal/tracing"
)

// roundTimeout bounds one request to the leader. The answer takes as long as a commit, because it
// uses a batch.
const roundTimeout = 5 * time.Second

// Barrier returns an index such that a read on any node that has applied it is linearizable. It
// waits for a leader for at most leaderWaitTimeout. Its trace span is a child of the read's: on a node
// that does not lead, it includes the wait for the leader's answer.
func (r *Router) Barrier(ctx context.Context) (index uint64, err error) {
	ctx, span := tracing.Child(ctx, "barrier")
	defer func() { tracing.End(span, err) }()
	giveUp := time.Now().Add(leaderWaitTimeout)
	pause := newBackoff()
	for {
		if index, err = r.barrierOnce(ctx); err == nil {
			return index, nil
		}
		wait := pause.Next()
		// A read changes nothing, so an unknown outcome is retried too.
		if code := agent.CodeOf(err); code != agent.CodeUnavailable && code != agent.CodeUnknown {
			return 0, err
		}
		if time.Now().Add(wait).After(giveUp) {
			return 0, agent.Errorf(agent.CodeUnavailable, "no linearizable read now: %v; use a stale read, or retry later", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, agent.Errorf(agent.CodeUnavailable, "no linearizable read in the time given: %v", err)
		case <-r.ctx.Done():
			return 0, agent.Errorf(agent.CodeUnavailable, "this node is stopping")
		}
	}
}

func (r *Router) barrierOnce(ctx context.Context) (uint64, error) {
	if r.group.IsLeader() {
		return r.group.Barrier(ctx)
	}
	return r.rounds.wait(ctx)
}

// askLeader sends one request to the current leader, and fails if the leader changes.
func (r *Router) askLeader() (uint64, error) {
	ctx, cancel := context.WithTimeout(r.ctx, roundTimeout)
	defer cancel()
	addr := r.toAsk(cancel)
	if addr == "" {
		return 0, agent.Errorf(agent.CodeUnavailable, "no leader is known; is a majority of the voters up?")
	}
	return r.peers.Barrier(ctx, addr, r.local.Applied())
}

// rounds shares requests to the leader: all reads that wait during one request share the next one.
// A read never joins a request that has been sent, because its answer may be older than the read.
type rounds struct {
	ask   func() (uint64, error)
	begin func() bool // called before run is started; false if it must not be
	end   func()      // called when run has ended

	mu   sync.Mutex
	next *round // not sent yet; nil if no read waits. Guarded by mu
	busy bool   // run is running. Guarded by mu
}

type round struct {
	done  chan struct{} // closed when index and err are set
	index uint64
	err   error
}

// wait joins the next round and waits for its answer.
func (s *rounds) wait(ctx context.Context) (uint64, error) {
	s.mu.Lock()
	if !s.busy {
		if !s.begin() {
			s.mu.Unlock()
			return 0, agent.Errorf(agent.CodeUnavailable, "this node is stopping")
		}
		s.busy = true
		go s.run()
	}
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
	}
	joined := s.next
	s.mu.Unlock()
	select {
	case <-joined.done:
		return joined.index, joined.err
	case <-ctx.Done():
		return 0, agent.Errorf(agent.CodeUnavailable, "the read ended before the leader answered: %v", context.Cause(ctx))
	}
}

// run sends rounds one after another until no read waits.
func (s *rounds) run() {
	defer s.end()
	for {
		s.mu.Lock()
		sent := s.next
		if !seededbug.Is(seededbug.BarrierJoinsSentRound) {
			s.next = nil
		}
		if sent == nil {
			s.busy = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		sent.index, sent.err = s.ask()
		if seededbug.Is(seededbug.BarrierJoinsSentRound) {
			s.mu.Lock()
			s.next = nil
			s.mu.Unlock()
		}
		close(sent.done)
	}
}
