package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeClaims(f *web.API) {
	const tag, one = "claims", "/v1/claims/{name}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one, ID: "take-claim", Tag: tag, Summary: "Take a claim that is free, under a new epoch",
		Effect: web.Writes, BodyNeeded: true, Status: http.StatusCreated, Creates: true, Answers: document.Claim{},
	}, func(c *web.Request, body *document.TakeBody) error { return changeClaim(c, body) })
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/renew", ID: "renew-claim", Tag: tag, Summary: "Renew a claim for its full ttl",
		Effect: web.Writes, BodyNeeded: true, Answers: document.Claim{},
	}, func(c *web.Request, body *document.RenewBody) error { return changeClaim(c, body) })
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/release", ID: "release-claim", Tag: tag, Summary: "Release a claim, or hand it over",
		Effect: web.Writes, BodyNeeded: true, Answers: document.Claim{},
	}, func(c *web.Request, body *document.ReleaseBody) error { return changeClaim(c, body) })
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-claim", Tag: tag, Summary: "Read the holder of a claim",
		Effect: web.Reads, Answers: document.Claim{},
	}, getClaim)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/watch", ID: "watch-claim", Tag: tag,
		Summary: "Server-sent events: the holder of a claim, now and after each change",
		Effect:  web.Reads, Media: web.EventStream, Streams: true,
		Events: web.WatchEvents(map[string]any{"claim": document.Claim{}}),
	}, watchClaim)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/claims", ID: "list-claims", Tag: tag, Summary: "List the claims that are held, in name order",
		Effect: web.Reads, Query: web.OrderedQuery, Answers: document.List[document.Claim]{},
	}, listClaims)
}

// claimBody is a body with an op on a claim.
type claimBody interface {
	ToOp(name string) (agent.Op, error)
}

// changeClaim commits the op of a body.
func changeClaim(c *web.Request, body claimBody) error {
	op, err := body.ToOp(c.ID("name"))
	if err != nil {
		return err
	}
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ClaimResult](result, 0)
	if err != nil {
		return err
	}
	a := web.Reply{Body: document.ClaimOf(done.Claim)}
	if c.Route.Creates {
		a.Location = web.PathOf("claims", done.Claim.Name)
	}
	return c.Answer(a)
}

func getClaim(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Claim](c, &agent.GetClaim{Claim: c.ID("name")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ClaimOf(*found)})
}

func listClaims(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.ClaimList](c, &agent.ListClaims{Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.ClaimOf)})
}

// watchClaim streams until the client disconnects. A claim that is not held can be watched too.
func watchClaim(c *web.Request, _ *web.None) error {
	_, err := c.OpenWatch(&agent.GetClaim{Claim: c.ID("name")})
	if err != nil && agent.CodeOf(err) != agent.CodeNotFound {
		return err
	}
	return c.Watch(agent.Watch{Scope: c.Scope, Claim: c.ID("name")})
}
