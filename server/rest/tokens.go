package rest

import (
	"net/http"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
)

func routeTokens(f *api) {
	const tag, all, one = "tokens", "/v1/tokens", "/v1/tokens/{id}"
	register(f, route{
		method: http.MethodPost, path: all, id: "create-token", tag: tag, summary: "Create a token; its secret is shown once",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.CreatedToken{},
	}, createToken)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-tokens", tag: tag, summary: "List tokens, without their secrets",
		effect: reads, query: orderedQuery, answers: document.List[document.Token]{},
	}, listTokens)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-token", tag: tag, summary: "Read a token, without its secret",
		effect: reads, answers: document.Token{},
	}, getToken)
	register(f, route{
		method: http.MethodDelete, path: one, id: "revoke-token", tag: tag, summary: "Revoke a token, as of the index of the answer",
		effect: writes, status: http.StatusNoContent,
	}, revokeToken)
	register(f, route{
		method: http.MethodGet, path: "/v1/whoami", id: "whoami", tag: tag, summary: "The caller's principal and grants", answers: document.Principal{},
	}, whoAmI)
}

// createToken makes the secret unless the caller sent a hash. A retry with an Idempotency-Key would
// make another secret, so it needs a hash.
func createToken(c *request, body *document.TokenBody) error {
	secret := ""
	if body.Hash == "" {
		if c.idemKey != "" {
			return agent.Invalid("hash", "hash is missing: with an Idempotency-Key make the secret yourself, and send its hash")
		}
		secret = access.NewSecret()
	}
	op, err := body.ToOp(agent.HashToken(secret))
	if err != nil {
		return err
	}
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.TokenResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{
		body:     document.CreatedToken{Token: document.TokenOf(done.Token), Secret: secret},
		location: location("tokens", done.Token.ID),
	})
}

func listTokens(c *request, _ *none) error {
	found, err := read[*agent.TokenList](c, &agent.ListTokens{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.TokenOf)})
}

func getToken(c *request, _ *none) error {
	found, err := read[*agent.Token](c, &agent.GetToken{ID: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.TokenOf(*found)})
}

func revokeToken(c *request, _ *none) error {
	if _, err := c.commit(&agent.RevokeToken{ID: c.id("id")}); err != nil {
		return err
	}
	return c.answer(reply{})
}

func whoAmI(c *request, _ *none) error {
	out := document.Principal{Grants: []document.Grant{}, Auth: layout.AuthOff}
	if p := access.From(c.ctx); p != nil {
		out = document.Principal{
			Principal: p.Name, Grants: document.GrantsOf(p.Grants), TokenID: p.TokenID, Source: string(p.Source), Auth: layout.AuthTokens,
		}
	}
	return c.answer(reply{body: out})
}
