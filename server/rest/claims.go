package rest

import (
	"net/http"

	"dormouse/agent"
)

// claim is how a claim stands.
type claim struct {
	Name      string `json:"name"`
	Holder    string `json:"holder,omitzero" doc:"Left out, as all that follows, where nobody holds it"`
	Epoch     uint64 `json:"epoch,omitzero" doc:"Of this holding, for Dormouse-Fence; it only grows"`
	TTLMS     int64  `json:"ttl_ms,omitzero"`
	ClaimedAt int64  `json:"claimed_at,omitzero" doc:"When this holding began"`
	ExpiresAt int64  `json:"expires_at,omitzero" doc:"Where it is not renewed; by log time, which stands still while nobody leads"`
}

func claimOf(c agent.Claim) claim {
	return claim{
		Name: c.Name, Holder: c.Holder, Epoch: c.Epoch, TTLMS: c.TTL.Milliseconds(), ClaimedAt: c.ClaimedAt, ExpiresAt: c.ExpiresAt,
	}
}

// takeBody asks for a claim.
type takeBody struct {
	Holder string `json:"holder"`
	TTLMS  uint64 `json:"ttl_ms,omitempty" doc:"From 1,000 to 86,400,000; 30,000 where absent"`
}

func (b *takeBody) ToOp(name string) (agent.Op, error) {
	ttl, err := timed("ttl_ms", b.TTLMS)
	return &agent.TakeClaim{Claim: name, Holder: b.Holder, TTL: ttl}, err
}

// renewBody renews a holding.
type renewBody struct {
	Holder string `json:"holder"`
	Epoch  uint64 `json:"epoch"`
	TTLMS  uint64 `json:"ttl_ms,omitempty" doc:"What it was where absent"`
}

func (b *renewBody) ToOp(name string) (agent.Op, error) {
	ttl, err := timed("ttl_ms", b.TTLMS)
	return &agent.RenewClaim{Claim: name, Holder: b.Holder, Epoch: b.Epoch, TTL: ttl}, err
}

// releaseBody ends a holding, or hands the claim over.
type releaseBody struct {
	Holder string `json:"holder"`
	Epoch  uint64 `json:"epoch"`
	To     string `json:"to,omitempty" doc:"The next holder, under a new epoch; nobody where absent"`
	TTLMS  uint64 `json:"ttl_ms,omitempty" doc:"Of the next holding; what it was where absent"`
}

func (b *releaseBody) ToOp(name string) (agent.Op, error) {
	ttl, err := timed("ttl_ms", b.TTLMS)
	return &agent.ReleaseClaim{Claim: name, Holder: b.Holder, Epoch: b.Epoch, To: b.To, TTL: ttl}, err
}

func (f *front) routeClaims() {
	const tag, one = "claims", "/v1/claims/{name}"
	register(f, route{
		method: http.MethodPost, path: one, id: "take-claim", tag: tag, summary: "Take a claim that nobody else holds, under a new epoch",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: claim{},
	}, func(c *call, body *takeBody) error { return c.changeClaim(body) })
	register(f, route{
		method: http.MethodPost, path: one + "/renew", id: "renew-claim", tag: tag, summary: "Give a holding its full ttl again",
		effect: writes, bodyNeeded: true, answers: claim{},
	}, func(c *call, body *renewBody) error { return c.changeClaim(body) })
	register(f, route{
		method: http.MethodPost, path: one + "/release", id: "release-claim", tag: tag, summary: "End a holding, or hand the claim over",
		effect: writes, bodyNeeded: true, answers: claim{},
	}, func(c *call, body *releaseBody) error { return c.changeClaim(body) })
	register(f, route{
		method: http.MethodGet, path: one, id: "get-claim", tag: tag, summary: "Read who holds a claim",
		effect: reads, answers: claim{},
	}, (*call).getClaim)
	register(f, route{
		method: http.MethodGet, path: one + "/watch", id: "watch-claim", tag: tag,
		summary: "Server-sent events: who holds a claim, now and whenever that changes",
		effect:  reads, media: eventStream, streams: true,
	}, (*call).watchClaim)
	register(f, route{
		method: http.MethodGet, path: "/v1/claims", id: "list-claims", tag: tag, summary: "List the claims that somebody holds, in name order",
		effect: reads, query: listQuery, answers: list[claim]{},
	}, (*call).listClaims)
}

// claimBody asks for an op on a claim.
type claimBody interface {
	ToOp(name string) (agent.Op, error)
}

// changeClaim commits the op that a body asks for.
func (c *call) changeClaim(body claimBody) error {
	op, err := body.ToOp(c.id("name"))
	if err != nil {
		return err
	}
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ClaimResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{body: claimOf(done.Claim)}
	if c.route.creates {
		a.location = location("claims", done.Claim.Name)
	}
	return c.answer(a)
}

func (c *call) getClaim(*none) error {
	found, err := read[*agent.Claim](c, &agent.GetClaim{Claim: c.id("name")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: claimOf(*found)})
}

func (c *call) listClaims(*none) error {
	found, err := read[*agent.ClaimList](c, &agent.ListClaims{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: listOf(found.Items, found.Next, claimOf)})
}

// watchClaim streams until the caller leaves. One that nobody holds is watched
// like any other.
func (c *call) watchClaim(*none) error {
	_, err := c.openWatch(&agent.GetClaim{Claim: c.id("name")})
	if err != nil && agent.CodeOf(err) != agent.CodeNotFound {
		return err
	}
	return c.watch(agent.Watch{Scope: c.scope, Claim: c.id("name")})
}
