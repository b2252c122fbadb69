package memstore

import (
	"dormouse/agent"
)

// fencedBy returns a refusal with the current holder, which is nil if there is none.
func fencedBy(name string, h *agent.Claim) *agent.Error {
	e := agent.Errorf(agent.CodeFenced, "claim %q is not held under this epoch", name)
	if h != nil {
		e.Epoch, e.Holder = h.Epoch, h.Holder
	}
	return e
}

// holding returns a holder's claim, or refuses a holding that has ended.
func (s *scope) holding(name, holder string, epoch uint64) (*agent.Claim, *agent.Error) {
	h := s.claims[name]
	if h == nil || h.Epoch != epoch || h.Holder != holder {
		return nil, fencedBy(name, h)
	}
	return h, nil
}

func takeClaim(st *Store, s *scope, o *agent.TakeClaim) (agent.OpResult, *agent.Error) {
	if h := s.claims[o.Claim]; h != nil && h.Holder != o.Holder {
		e := agent.Errorf(agent.CodeAlreadyClaimed, "claim %q is held by %q", o.Claim, h.Holder)
		e.Epoch, e.Holder, e.ExpiresAt = h.Epoch, h.Holder, h.ExpiresAt
		return nil, e
	}
	return hold(st, s, agent.Claim{Name: o.Claim, Holder: o.Holder, TTL: o.TTL}), nil
}

func renewClaim(st *Store, s *scope, o *agent.RenewClaim) (agent.OpResult, *agent.Error) {
	h, e := s.holding(o.Claim, o.Holder, o.Epoch)
	if e != nil {
		return nil, e
	}
	renewed := *h
	renewed.TTL = orElse(o.TTL, h.TTL)
	return hold(st, s, renewed), nil
}

func releaseClaim(st *Store, s *scope, o *agent.ReleaseClaim) (agent.OpResult, *agent.Error) {
	h, e := s.holding(o.Claim, o.Holder, o.Epoch)
	if e != nil {
		return nil, e
	}
	delete(s.claims, o.Claim)
	if o.To == "" {
		return &agent.ClaimResult{Claim: agent.Claim{Name: o.Claim}}, nil
	}
	return hold(st, s, agent.Claim{Name: o.Claim, Holder: o.To, TTL: orElse(o.TTL, h.TTL)}), nil
}

// hold restarts the ttl of a holding. A holding without an epoch begins.
func hold(st *Store, s *scope, c agent.Claim) *agent.ClaimResult {
	if c.Epoch == 0 {
		c.Epoch, c.ClaimedAt = st.newEpoch(), s.now
	}
	c.TTL = orElse(c.TTL, agent.ClaimTTLDefault)
	c.ExpiresAt = s.expiry(c.TTL)
	s.claims[c.Name] = &c
	return &agent.ClaimResult{Claim: c}
}

func (s *scope) listClaims(q *agent.ListClaims) *agent.ClaimList {
	names, next := sorted(s.claims, q.Page)
	list := &agent.ClaimList{Next: next}
	for _, name := range names {
		list.Items = append(list.Items, *s.claims[name])
	}
	return list
}
