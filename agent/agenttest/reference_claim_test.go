package agenttest_test

import (
	"context"
	"fmt"
	"maps"
	"time"

	"dormouse/agent"
)

// holding is a claim that is held until an instant of the real clock.
type holding struct {
	holder    string
	epoch     uint64
	ttl       time.Duration
	claimedAt int64
	ends      time.Time
}

func (h *holding) claim(name string, now int64) *agent.Claim {
	if h == nil {
		return &agent.Claim{Name: name}
	}
	return &agent.Claim{
		Name: name, Holder: h.holder, Epoch: h.epoch, TTL: h.ttl, ClaimedAt: h.claimedAt,
		ExpiresAt: now + time.Until(h.ends).Round(time.Second).Milliseconds(),
	}
}

// lapse removes the holdings that have expired.
func (s *scope) lapse() {
	maps.DeleteFunc(s.claims, func(_ string, h *holding) bool { return !time.Now().Before(h.ends) })
}

func (s *scope) fenced(f *agent.Fence) *agent.Error {
	if f == nil {
		return nil
	}
	return s.stands(f.Claim, s.claims[f.Claim], s.claims[f.Claim].epochIs(f.Epoch))
}

func (h *holding) epochIs(epoch uint64) bool { return h != nil && h.epoch == epoch }

// stands returns an error with the current holder if ok is false.
func (s *scope) stands(name string, h *holding, ok bool) *agent.Error {
	if ok {
		return nil
	}
	e := agent.Errorf(agent.CodeFenced, "claim %q has another holder", name)
	if h != nil {
		e.Epoch, e.Holder = h.epoch, h.holder
	}
	return e
}

func (r *reference) claimOp(s *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.TakeClaim:
		if h := s.claims[o.Claim]; h != nil && h.holder != o.Holder {
			e := s.stands(o.Claim, h, false)
			e.Code, e.ExpiresAt = agent.CodeAlreadyClaimed, h.claim(o.Claim, r.now).ExpiresAt
			return nil, e
		}
		return r.hold(s, o.Claim, &holding{holder: o.Holder, ttl: o.TTL}), nil
	case *agent.RenewClaim:
		h := s.claims[o.Claim]
		if refusal := s.stands(o.Claim, h, h.epochIs(o.Epoch) && h.holder == o.Holder); refusal != nil {
			return nil, refusal
		}
		renewed := *h
		if o.TTL != 0 {
			renewed.ttl = o.TTL
		}
		return r.hold(s, o.Claim, &renewed), nil
	case *agent.ReleaseClaim:
		h := s.claims[o.Claim]
		if refusal := s.stands(o.Claim, h, h.epochIs(o.Epoch) && h.holder == o.Holder); refusal != nil {
			return nil, refusal
		}
		delete(s.claims, o.Claim)
		if o.To == "" {
			return &agent.ClaimResult{Claim: agent.Claim{Name: o.Claim}}, nil
		}
		next := &holding{holder: o.To, ttl: h.ttl}
		if o.TTL != 0 {
			next.ttl = o.TTL
		}
		return r.hold(s, o.Claim, next), nil
	default:
		panic(fmt.Sprintf("op %T", op))
	}
}

// hold starts the ttl of a holding; one without an epoch begins.
func (r *reference) hold(s *scope, name string, h *holding) agent.OpResult {
	if h.epoch == 0 {
		h.epoch, h.claimedAt = r.mint(), r.now
	}
	h.ends = time.Now().Add(h.ttl)
	s.claims[name] = h
	claim := *h.claim(name, r.now)
	claim.ExpiresAt = r.now + h.ttl.Milliseconds()
	return &agent.ClaimResult{Claim: claim}
}

// watchClaim polls after each commit, and when the holding expires.
func (r *reference) watchClaim(ctx context.Context, w agent.Watch, yield func(agent.Event, error) bool) {
	for told := (*agent.Claim)(nil); ; {
		r.mu.Lock()
		s := r.scope(w.Scope)
		s.lapse()
		h, changed := s.claims[w.Claim], r.changed
		now := h.claim(w.Claim, r.now)
		r.mu.Unlock()
		if told == nil || told.Epoch != now.Epoch {
			if told = now; !yield(agent.Event{Kind: agent.EventClaim, Claim: *now}, nil) {
				return
			}
		}
		var ends <-chan time.Time
		if h != nil {
			ends = time.After(time.Until(h.ends))
		}
		select {
		case <-changed:
		case <-ends:
		case <-ctx.Done():
			return
		}
	}
}
