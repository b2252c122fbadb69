package rest_test

import (
	"context"
	"maps"
	"slices"

	"dormouse/agent"
)

func (f *fake) applyClaim(s *fakeScope, op agent.Op, epoch uint64) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.TakeClaim:
		if held := s.claims[o.Claim]; held.Held() && held.Holder != o.Holder {
			return nil, &agent.Error{Code: agent.CodeAlreadyClaimed, Epoch: held.Epoch, Holder: held.Holder, ExpiresAt: held.ExpiresAt}
		}
		return f.arm(s, agent.Claim{Name: o.Claim, Holder: o.Holder, Epoch: epoch, TTL: o.TTL, ClaimedAt: f.now()}), nil
	case *agent.RenewClaim:
		held := s.claims[o.Claim]
		if held.Epoch != o.Epoch || held.Holder != o.Holder {
			return nil, fakeFenced(held)
		}
		if o.TTL > 0 {
			held.TTL = o.TTL
		}
		return f.arm(s, held), nil
	case *agent.ReleaseClaim:
		held := s.claims[o.Claim]
		if held.Epoch != o.Epoch || held.Holder != o.Holder {
			return nil, fakeFenced(held)
		}
		delete(s.claims, o.Claim)
		if o.To == "" {
			return &agent.ClaimResult{Claim: agent.Claim{Name: o.Claim}}, nil
		}
		return f.arm(s, agent.Claim{Name: o.Claim, Holder: o.To, Epoch: epoch, TTL: held.TTL, ClaimedAt: f.now()}), nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "the fake has no %T", op)
	}
}

func fakeFenced(held agent.Claim) *agent.Error {
	return &agent.Error{Code: agent.CodeFenced, Epoch: held.Epoch, Holder: held.Holder}
}

func (f *fake) arm(s *fakeScope, c agent.Claim) agent.OpResult {
	c.ExpiresAt = f.now() + c.TTL.Milliseconds()
	s.claims[c.Name] = c
	return &agent.ClaimResult{Claim: c}
}

func (f *fake) findClaim(s *fakeScope, r agent.Read) (agent.Found, *agent.Error) {
	switch q := r.(type) {
	case *agent.GetClaim:
		if c, held := s.claims[q.Claim]; held {
			return &c, nil
		}
		return nil, agent.Errorf(agent.CodeNotFound, "nobody holds it")
	case *agent.ListClaims:
		out := &agent.ClaimList{}
		names, next := page(q.Page, slices.Sorted(maps.Keys(s.claims)))
		for _, name := range names {
			out.Items = append(out.Items, s.claims[name])
		}
		out.Next = next
		return out, nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "the fake has no %T", r)
	}
}

func (f *fake) watchClaim(ctx context.Context, w agent.Watch, yield func(agent.Event, error) bool) {
	told := false
	for epoch := uint64(0); ; {
		f.mu.Lock()
		c, changed := f.scope(cmpScope(w.Scope)).claims[w.Claim], f.changed
		f.mu.Unlock()
		if !told || c.Epoch != epoch {
			c.Name, told, epoch = w.Claim, true, c.Epoch
			if !yield(agent.Event{Kind: agent.EventClaim, Claim: c}, nil) {
				return
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
