package fakestore

import (
	"time"

	"dormouse/agent"
	"dormouse/agent/agenttest"
)

// host implements agenttest.SessionHost: nothing is sealed, and a rollback restores
// nothing.
type host struct {
	*Store
	sc *scope
}

var _ agenttest.SessionHost = host{}

func (h host) Now() int64                                              { return h.now() }
func (h host) Born() uint64                                            { return h.index }
func (h host) Enter(string, uint64, uint64) *agent.Error               { return nil }
func (h host) Seal(string, uint64, time.Duration)                      {}
func (h host) Release(claim string)                                    { delete(h.sc.claims, claim) }
func (h host) Mark(agent.Session) any                                  { return nil }
func (h host) PutBack(agent.Session, any) (*agent.Draft, *agent.Error) { return nil, nil }

func (h host) Hold(claim, holder string, ttl time.Duration) uint64 {
	return h.hold(h.sc, agent.Claim{Name: claim, Holder: holder, TTL: ttl}).(*agent.ClaimResult).Claim.Epoch
}

func (h host) Arm(claim string, ttl time.Duration) {
	c := *h.sc.claims[claim]
	c.TTL = ttl
	h.hold(h.sc, c)
}

// Ends returns 0 for an expired holding; only leases expire here.
func (h host) Ends(claim string) int64 {
	if c := h.sc.claims[claim]; c != nil && c.ExpiresAt > h.now() {
		return c.ExpiresAt
	}
	return 0
}

func (h host) Note(thread string, d agent.Draft) {
	h.append(h.sc, h.open(h.sc, thread), []agent.Draft{d}, nil)
}

// Pass advances time by span: leases expire, and reviews expire.
func (s *Store) Pass(span time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed += span.Milliseconds()
	for _, sc := range s.scopes {
		sc.sessions.Pass(host{s, sc})
	}
}

// session answers a read of sessions or reviews; lists of reviews are not paged.
func (s *Store) session(sc *scope, read agent.Read) (agent.Found, *agent.Error) {
	h := host{s, sc}
	switch q := read.(type) {
	case *agent.GetSession:
		if found := sc.sessions.Shown(h, q.Session); found != nil {
			return found, nil
		}
		return nil, notFound("session", q.Session)
	case *agent.ListSessions:
		all := map[string]agent.SessionRow{}
		for id := range sc.sessions.Sessions {
			row := sc.sessions.Shown(h, id).SessionRow
			owned := q.Owner == "" || row.Lease != nil && row.Lease.Owner == q.Owner
			if owned && (q.Status == "" || row.Status == q.Status) && (q.Agent == "" || row.Agent == q.Agent) &&
				(row.Recoverable || !q.Recoverable) {
				all[id] = row
			}
		}
		list := &agent.SessionList{}
		ids, next := page(all, q.Page)
		for _, id := range ids {
			list.Items = append(list.Items, all[id])
		}
		list.Next = next
		return list, nil
	case *agent.GetReview:
		if r, ok := sc.sessions.Reviews[q.Review]; ok {
			return &r, nil
		}
		return nil, notFound("review", q.Review)
	case *agent.ListReviews:
		return &agent.ReviewList{Items: sc.sessions.List(*q)}, nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "the fake knows no %T", read)
	}
}
