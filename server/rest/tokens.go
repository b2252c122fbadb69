package rest

import (
	"net/http"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeTokens(f *web.API) {
	const tag, all, one = "tokens", "/v1/tokens", "/v1/tokens/{id}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: all, ID: "create-token", Tag: tag, Summary: "Create a token; its secret is shown once",
		Effect: web.Writes, BodyNeeded: true, Status: http.StatusCreated, Creates: true, Answers: document.CreatedToken{},
	}, createToken)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all, ID: "list-tokens", Tag: tag, Summary: "List tokens, without their secrets",
		Effect: web.Reads, Query: web.OrderedQuery, Answers: document.List[document.Token]{},
	}, listTokens)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-token", Tag: tag, Summary: "Read a token, without its secret",
		Effect: web.Reads, Answers: document.Token{},
	}, getToken)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "revoke-token", Tag: tag, Summary: "Revoke a token, as of the index of the answer",
		Effect: web.Writes, Status: http.StatusNoContent,
	}, revokeToken)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/whoami", ID: "whoami", Tag: tag, Summary: "The caller's principal and grants", Answers: document.Principal{},
	}, whoAmI)
}

// createToken makes the secret unless the caller sent a hash. A retry with an Idempotency-Key would
// make another secret, so it needs a hash.
func createToken(c *web.Request, body *document.TokenBody) error {
	secret := ""
	if body.Hash == "" {
		if c.IdemKey != "" {
			return agent.Invalid("hash", "hash is missing: with an Idempotency-Key make the secret yourself, and send its hash")
		}
		secret = access.NewSecret()
	}
	op, err := body.ToOp(agent.HashToken(secret))
	if err != nil {
		return err
	}
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.TokenResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{
		Body:     document.CreatedToken{Token: document.TokenOf(done.Token), Secret: secret},
		Location: web.PathOf("tokens", done.Token.ID),
	})
}

func listTokens(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.TokenList](c, &agent.ListTokens{Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.TokenOf)})
}

func getToken(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Token](c, &agent.GetToken{ID: c.ID("id")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.TokenOf(*found)})
}

func revokeToken(c *web.Request, _ *web.None) error {
	if _, err := c.Commit(&agent.RevokeToken{ID: c.ID("id")}); err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func whoAmI(c *web.Request, _ *web.None) error {
	out := document.Principal{Grants: []document.Grant{}, Auth: layout.AuthOff}
	if p := access.From(c.Context); p != nil {
		out = document.Principal{
			Principal: p.Name, Grants: document.GrantsOf(p.Grants), TokenID: p.TokenID, Source: string(p.Source), Auth: layout.AuthTokens,
		}
	}
	return c.Answer(web.Reply{Body: out})
}
