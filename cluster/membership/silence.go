package membership

import (
	"context"
	"errors"
	"syscall"
	"time"

	"dormouse/internal/pause"
)

// lookLeast is the shortest time between two looks at a leader that is silent.
const lookLeast = 50 * time.Millisecond

// untilSilent returns when to look for the leader next: once it has been silent for
// Silence.
func (f *Failover) untilSilent() time.Duration {
	if f.Timing.Silence == 0 {
		return 24 * time.Hour // consider alone replaces a leader
	}
	return max(f.Timing.Silence-time.Since(f.Raft.LastContact()), lookLeast)
}

// considerSilent makes this node stand for election if the leader has been silent for
// Silence, answers nothing for another Answer, and a majority of all voters sees the same.
// A pause of the leader that is shorter than both together ends no term.
func (f *Failover) considerSilent(ctx context.Context) {
	if f.Timing.Silence == 0 {
		return
	}
	lost := &lostLeader{term: f.Raft.CurrentTerm(), silent: true, heard: f.Raft.LastContact()}
	addr, leader := f.Raft.LeaderWithID()
	if lost.node = string(leader); leader == "" || lost.node == f.Self.Node || time.Since(lost.heard) < f.Timing.Silence {
		return
	}
	if f.answers(ctx, string(addr), lost) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, f.Timing.Agree)
	defer cancel()
	f.replace(ctx, lost)
}

// answers reports whether the leader, or another process in its place, answers a handshake
// within Answer, or sends a message. It returns false at once if the leader's port refuses.
func (f *Failover) answers(ctx context.Context, addr string, lost *lostLeader) bool {
	ctx, cancel := context.WithTimeout(ctx, f.Timing.Answer)
	defer cancel()
	for ctx.Err() == nil {
		switch c, err := f.Stream.DialPeer(ctx, addr); {
		case err == nil:
			_ = c.Close() // nothing was sent
			return true
		case errors.Is(err, syscall.ECONNREFUSED):
			return false
		}
		if !f.Raft.LastContact().Equal(lost.heard) {
			return true
		}
		pause.For(ctx, agreeEvery)
	}
	return !f.Raft.LastContact().Equal(lost.heard)
}
