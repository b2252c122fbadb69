package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// claimTTL is how long the claim of a process that was killed still keeps others out.
const claimTTL = 2 * time.Second

// holding is the claim of this process on the dinner.
type holding struct {
	client *client.Client
	agent.Claim
}

// take takes the claim. It waits until that of an earlier process has ended.
func take(ctx context.Context, c *client.Client) (*holding, error) {
	holder := fmt.Sprint("team-", os.Getpid())
	for waited := false; ; waited = true {
		claim, err := c.TakeClaim(ctx, agent.TakeClaim{Claim: app, Holder: holder, TTL: claimTTL})
		switch {
		case err == nil:
			say("holds the claim %q, epoch %d", claim.Name, claim.Epoch)
			return &holding{c, claim}, nil
		case agent.CodeOf(err) != agent.CodeAlreadyClaimed:
			return nil, fmt.Errorf("take the claim: %w", err)
		case !waited:
			say("waits for the claim of an earlier process to end")
		}
		pause(ctx, claimTTL/10)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// keep renews the claim until ctx ends, or until another process has the claim.
func (h *holding) keep(ctx context.Context) error {
	for ctx.Err() == nil {
		pause(ctx, claimTTL/3)
		_, err := h.client.RenewClaim(ctx, agent.RenewClaim{Claim: h.Name, Holder: h.Holder, Epoch: h.Epoch})
		if agent.CodeOf(err) == agent.CodeFenced {
			return fmt.Errorf("another process has the claim: %w", err)
		}
	}
	return nil
}

func (h *holding) release(ctx context.Context) error {
	_, err := h.client.ReleaseClaim(ctx, agent.ReleaseClaim{Claim: h.Name, Holder: h.Holder, Epoch: h.Epoch})
	return err
}

// scope returns the calls under the claim.
func (h *holding) scope() client.Scope { return h.client.Under(h.Claim) }

// service returns a service that makes every commit under the claim.
func (h *holding) service() agent.Service { return fenced{h.client, h.Fence()} }

type fenced struct {
	agent.Service
	fence *agent.Fence
}

// Commit makes a commit under the claim.
func (f fenced) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	c.Fence = f.fence
	return f.Service.Commit(ctx, c)
}
