package memstore

import (
	"slices"
	"time"

	"dormouse/agent"
)

// sessionHost implements SessionHost with a scope.
type sessionHost struct {
	*Store
	s *scope
}

func (h sessionHost) Now() int64 { return h.s.now }

func (h sessionHost) Principal() string { return h.s.principal }

func (h sessionHost) Born() uint64 { return h.newIncarnation() }

func (h sessionHost) Enter(session string, wanted, current uint64) *agent.Error {
	return h.s.alive("session", session, wanted, current)
}

func (h sessionHost) Seal(session string, incarnation uint64, seal time.Duration) {
	h.s.removed("session", session, incarnation, seal)
}

func (h sessionHost) Hold(claim, holder string, ttl time.Duration) uint64 {
	return hold(h.Store, h.s, agent.Claim{Name: claim, Holder: holder, TTL: ttl}).Claim.Epoch
}

func (h sessionHost) Arm(claim string, ttl time.Duration) {
	renewed := *h.s.claims[claim]
	renewed.TTL = ttl
	hold(h.Store, h.s, renewed)
}

func (h sessionHost) Ends(claim string) int64 {
	if c := h.s.claims[claim]; c != nil {
		return c.ExpiresAt
	}
	return 0
}

func (h sessionHost) Release(claim string) { delete(h.s.claims, claim) }

func (h sessionHost) Note(thread string, d agent.Draft) {
	t, refusal := h.s.openThread(thread, 0)
	if refusal == nil {
		_, _ = h.addEntries(h.s, t, []agent.Draft{d}, nil, false) // a generated id is always unused
	}
}

// standing is the state of a session's checkpoint, nil if it has none, and the length
// of its thread.
type standing struct {
	checkpoint *agent.Checkpoint
	rev        uint64
}

func (h sessionHost) Mark(s agent.Session) any {
	mark := standing{checkpoint: h.s.checkpoint(s.Checkpoint)}
	if t := h.s.threads[s.Thread]; t != nil {
		mark.rev = t.Rev
	}
	return mark
}

func (h sessionHost) PutBack(s agent.Session, mark any) (*agent.Draft, *agent.Error) {
	before := mark.(standing)
	now := h.s.checkpoint(s.Checkpoint)
	switch {
	case now == before.checkpoint:
	case before.checkpoint == nil:
		delete(h.s.checkpoints, s.Checkpoint)
	default:
		if !slices.Contains(h.s.checkpoints[s.Checkpoint], before.checkpoint) {
			return nil, agent.Errorf(agent.CodeConflict, "the revision is no longer kept")
		}
		c := *before.checkpoint
		c.Revision, c.UpdatedAt = now.Revision+1, h.s.now
		h.s.storeCheckpoint(c)
	}
	t := h.s.threads[s.Thread]
	if t == nil || t.Rev <= before.rev {
		return nil, nil
	}
	entry := agent.TurnRolledBackEntry(s.ID, s.RequestID, before.rev, t.Rev-1)
	return &entry, nil
}
