package agenttest_test

import (
	"time"

	"dormouse/agent"
)

// sessionHost implements SessionHost with a scope.
type sessionHost struct {
	*reference
	s *scope
}

func (h sessionHost) Now() int64 { return h.now }

func (h sessionHost) Born() uint64 { return h.mint() }

func (h sessionHost) Enter(session string, wanted, current uint64) *agent.Error {
	return h.s.alive("session", session, wanted, current)
}

func (h sessionHost) Seal(session string, incarnation uint64, seal time.Duration) {
	h.s.removed("session", session, incarnation, seal)
}

func (h sessionHost) Hold(claim, holder string, ttl time.Duration) uint64 {
	return h.hold(h.s, claim, &holding{holder: holder, ttl: ttl}).(*agent.ClaimResult).Claim.Epoch
}

func (h sessionHost) Arm(claim string, ttl time.Duration) {
	renewed := *h.s.claims[claim]
	renewed.ttl = ttl
	h.hold(h.s, claim, &renewed)
}

func (h sessionHost) Ends(claim string) int64 { return h.s.claims[claim].claim(claim, h.now).ExpiresAt }

func (h sessionHost) Release(claim string) { delete(h.s.claims, claim) }

func (h sessionHost) Note(thread string, d agent.Draft) {
	t, refusal := h.open(h.s, thread, 0)
	if refusal == nil {
		_, _ = h.add(h.s, t, []agent.Draft{d}, nil) // a generated id is always unused
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
		kept := false
		for _, c := range h.s.checkpoints[s.Checkpoint] {
			kept = kept || c == before.checkpoint
		}
		if !kept {
			return nil, agent.Errorf(agent.CodeConflict, "the revision is no longer kept")
		}
		c := *before.checkpoint
		c.Revision, c.UpdatedAt = now.Revision+1, h.now
		h.s.store(c)
	}
	t := h.s.threads[s.Thread]
	if t == nil || t.Rev <= before.rev {
		return nil, nil
	}
	entry := agent.TurnRolledBackEntry(s.ID, s.RequestID, before.rev, t.Rev-1)
	return &entry, nil
}

// sessionRead returns nil if the read is not about sessions, or finds nothing.
func (r *reference) sessionRead(s *scope, read agent.Read) agent.Found {
	s.lapse()
	h := sessionHost{r, s}
	switch q := read.(type) {
	case *agent.GetSession:
		if shown := s.sessions.Shown(h, q.Session); shown != nil {
			return shown
		}
	case *agent.ListSessions:
		all := map[string]agent.SessionRow{}
		if q.Recoverable {
			all = s.sessions.Recoverable(h)
		} else {
			for id := range s.sessions.Sessions {
				row := s.sessions.Shown(h, id).SessionRow
				owned := q.Owner == "" || row.Lease != nil && row.Lease.Owner == q.Owner
				if owned && (q.Status == "" || row.Status == q.Status) && (q.Agent == "" || row.Agent == q.Agent) {
					all[id] = row
				}
			}
		}
		keys, next := sorted(all, q.Page)
		list := &agent.SessionList{Next: next}
		for _, id := range keys {
			list.Items = append(list.Items, all[id])
		}
		return list
	case *agent.GetReview:
		if review, ok := s.sessions.Reviews[q.Review]; ok {
			return &review
		}
	case *agent.ListReviews:
		return reviewPage(s.sessions.List(*q), q.Page)
	}
	return nil
}

// reviewPage begins after the last review of the previous page.
func reviewPage(all []agent.Review, p agent.Page) *agent.ReviewList {
	from := 0
	for i, r := range all {
		if r.ID == p.After {
			from = i + 1
		}
	}
	all = all[from:]
	if limit := int(p.Limit); limit > 0 && len(all) > limit {
		return &agent.ReviewList{Items: all[:limit], Next: all[limit-1].ID}
	}
	return &agent.ReviewList{Items: all}
}
