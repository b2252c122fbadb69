package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeClaims(f *api) {
	const tag, one = "claims", "/v1/claims/{name}"
	register(f, route{
		method: http.MethodPost, path: one, id: "take-claim", tag: tag, summary: "Take a claim that is free, under a new epoch",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.Claim{},
	}, func(c *request, body *document.TakeBody) error { return changeClaim(c, body) })
	register(f, route{
		method: http.MethodPost, path: one + "/renew", id: "renew-claim", tag: tag, summary: "Renew a claim for its full ttl",
		effect: writes, bodyNeeded: true, answers: document.Claim{},
	}, func(c *request, body *document.RenewBody) error { return changeClaim(c, body) })
	register(f, route{
		method: http.MethodPost, path: one + "/release", id: "release-claim", tag: tag, summary: "Release a claim, or hand it over",
		effect: writes, bodyNeeded: true, answers: document.Claim{},
	}, func(c *request, body *document.ReleaseBody) error { return changeClaim(c, body) })
	register(f, route{
		method: http.MethodGet, path: one, id: "get-claim", tag: tag, summary: "Read the holder of a claim",
		effect: reads, answers: document.Claim{},
	}, getClaim)
	register(f, route{
		method: http.MethodGet, path: one + "/watch", id: "watch-claim", tag: tag,
		summary: "Server-sent events: the holder of a claim, now and after each change",
		effect:  reads, media: eventStream, streams: true,
		events: watchEvents(map[string]any{"claim": document.Claim{}}),
	}, watchClaim)
	register(f, route{
		method: http.MethodGet, path: "/v1/claims", id: "list-claims", tag: tag, summary: "List the claims that are held, in name order",
		effect: reads, query: orderedQuery, answers: document.List[document.Claim]{},
	}, listClaims)
}

// claimBody is a body with an op on a claim.
type claimBody interface {
	ToOp(name string) (agent.Op, error)
}

// changeClaim commits the op of a body.
func changeClaim(c *request, body claimBody) error {
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
	a := reply{body: document.ClaimOf(done.Claim)}
	if c.route.creates {
		a.location = location("claims", done.Claim.Name)
	}
	return c.answer(a)
}

func getClaim(c *request, _ *none) error {
	found, err := read[*agent.Claim](c, &agent.GetClaim{Claim: c.id("name")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ClaimOf(*found)})
}

func listClaims(c *request, _ *none) error {
	found, err := read[*agent.ClaimList](c, &agent.ListClaims{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ClaimOf)})
}

// watchClaim streams until the client disconnects. A claim that is not held can be watched too.
func watchClaim(c *request, _ *none) error {
	_, err := c.openWatch(&agent.GetClaim{Claim: c.id("name")})
	if err != nil && agent.CodeOf(err) != agent.CodeNotFound {
		return err
	}
	return c.watch(agent.Watch{Scope: c.scope, Claim: c.id("name")})
}
