package fakestore

import (
	"dormouse/agent"
)

func (s *Store) claimOp(sc *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.TakeClaim:
		if c := sc.claims[o.Claim]; c != nil && c.Holder != o.Holder {
			return nil, &agent.Error{Code: agent.CodeAlreadyClaimed, Detail: "another holds it", Epoch: c.Epoch, Holder: c.Holder, ExpiresAt: c.ExpiresAt}
		}
		return s.hold(sc, agent.Claim{Name: o.Claim, Holder: o.Holder, TTL: o.TTL}), nil
	case *agent.RenewClaim:
		if err := sc.fenced(o.Claim, o.Epoch); err != nil {
			return nil, err
		}
		c := *sc.claims[o.Claim]
		if o.TTL > 0 {
			c.TTL = o.TTL
		}
		return s.hold(sc, c), nil
	case *agent.ReleaseClaim:
		if err := sc.fenced(o.Claim, o.Epoch); err != nil {
			return nil, err
		}
		ttl := sc.claims[o.Claim].TTL
		delete(sc.claims, o.Claim)
		if o.To == "" {
			return &agent.ClaimResult{Claim: agent.Claim{Name: o.Claim}}, nil
		}
		if o.TTL > 0 {
			ttl = o.TTL
		}
		return s.hold(sc, agent.Claim{Name: o.Claim, Holder: o.To, TTL: ttl}), nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "the fake knows no %T", op)
	}
}

// fenced refuses an epoch that is not the claim's. Claims do not expire here.
func (sc *scope) fenced(claim string, epoch uint64) *agent.Error {
	var held agent.Claim
	if c := sc.claims[claim]; c != nil {
		held = *c
	}
	if held.Epoch != epoch {
		return &agent.Error{Code: agent.CodeFenced, Detail: "another epoch", Op: -1, Epoch: held.Epoch, Holder: held.Holder}
	}
	return nil
}

// hold starts the ttl of a holding; one without an epoch begins.
func (s *Store) hold(sc *scope, c agent.Claim) agent.OpResult {
	if c.Epoch == 0 {
		c.Epoch, c.ClaimedAt = s.index, s.now()
	}
	c.ExpiresAt = s.expiry(c.TTL)
	sc.claims[c.Name] = &c
	return &agent.ClaimResult{Claim: c}
}
