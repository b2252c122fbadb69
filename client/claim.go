package client

import (
	"context"

	"dormouse/agent"
)

// TakeClaim takes a claim that has no other holder, under a new epoch. Otherwise the error
// is already_claimed, with the Holder and when its holding expires. Use Scope.Under, or the
// claim's Fence, for commits that must apply only while it is held. It is a lease with a
// fencing token: the state machine checks it at each write.
func (s Claims) TakeClaim(ctx context.Context, take agent.TakeClaim) (agent.Claim, error) {
	return s.claim(ctx, &take)
}

// RenewClaim restarts the ttl of a holding; renew at each third of it. fenced means that the
// holding has ended.
func (s Claims) RenewClaim(ctx context.Context, renew agent.RenewClaim) (agent.Claim, error) {
	return s.claim(ctx, &renew)
}

// ReleaseClaim ends a holding, or with To hands the claim over to another holder. fenced
// means that the holding had ended before.
func (s Claims) ReleaseClaim(ctx context.Context, release agent.ReleaseClaim) (agent.Claim, error) {
	return s.claim(ctx, &release)
}

func (s Claims) claim(ctx context.Context, op agent.Op) (agent.Claim, error) {
	r, err := do[*agent.ClaimResult](ctx, s.target, op)
	if err != nil {
		return agent.Claim{}, err
	}
	return r.Claim, nil
}

// GetClaim reads a claim; not_found if it has no holder.
func (s Claims) GetClaim(ctx context.Context, claim string) (*agent.Claim, error) {
	return ask[*agent.Claim](ctx, s.target, &agent.GetClaim{Claim: claim})
}

// ListClaims lists the claims that have a holder, in name order.
func (s Claims) ListClaims(ctx context.Context, page agent.Page) (*agent.ClaimList, error) {
	return ask[*agent.ClaimList](ctx, s.target, &agent.ListClaims{Page: page})
}
