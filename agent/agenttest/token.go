package agenttest

import (
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
)

// readers returns an op that creates a token that may read scope s.
func readers(principal string) *agent.PutToken {
	return &agent.PutToken{
		Hash: agent.HashToken(newName("secret")), Principal: principal,
		Grants: []agent.Grant{{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbRead}}},
	}
}

// anonymous returns a token without what depends on the caller and the node.
func anonymous(t agent.Token) agent.Token {
	t.CreatedBy, t.LastUsed = "", 0
	return t
}

var tokenClaims = []claim{
	{"a_token_is_read_as_it_was_created", func(k *kit) {
		op := readers(newName("p"))
		op.Grants = append(op.Grants, agent.Grant{Verbs: []agent.Verb{agent.VerbClusterRead, agent.VerbTokensChange}})
		op.TTL = time.Hour
		result := k.commit(op)
		got := anonymous(resultOf[*agent.TokenResult](k, result, 0).Token)
		k.equal("result", got, agent.Token{
			ID: op.Hash.TokenID(), Principal: op.Principal, Grants: op.Grants, CreatedAt: result.Time, ExpiresAt: result.Time + time.Hour.Milliseconds(),
		})
		k.equal("read", anonymous(*find[*agent.Token](k, &agent.GetToken{ID: got.ID})), got)
		list := find[*agent.TokenList](k, &agent.ListTokens{Page: agent.Page{Prefix: got.ID}})
		k.equal("listed", len(list.Items), 1)
		k.equal("listed", anonymous(list.Items[0]), got)
		k.equal("created again", anonymous(apply[*agent.TokenResult](k, op).Token), got)
		apply[*agent.DeleteResult](k, &agent.RevokeToken{ID: got.ID})
	}},

	{"a_secret_belongs_to_one_principal", func(k *kit) {
		op := readers(newName("p"))
		id := apply[*agent.TokenResult](k, op).Token.ID
		other := *op
		other.Principal = newName("p")
		k.refuse(agent.CodeAlreadyExists, 0, &other)
		apply[*agent.DeleteResult](k, &agent.RevokeToken{ID: id})
	}},

	{"a_principal_has_at_most_two_tokens", func(k *kit) {
		p := newName("p")
		first := apply[*agent.TokenResult](k, readers(p)).Token
		second := apply[*agent.TokenResult](k, readers(p)).Token
		e := k.refuse(agent.CodeTooLarge, 0, readers(p))
		k.equal("limit", e.Limit, "tokens_of_principal_max=2")
		k.refuse(agent.CodeTooLarge, 1, &agent.RevokeToken{ID: "tok_other"}, readers(p))
		k.equal("revoked", *apply[*agent.DeleteResult](k, &agent.RevokeToken{ID: first.ID}), agent.DeleteResult{Existed: true})
		k.equal("revoked again", *apply[*agent.DeleteResult](k, &agent.RevokeToken{ID: first.ID}), agent.DeleteResult{})
		k.lacks(agent.CodeNotFound, &agent.GetToken{ID: first.ID})
		third := apply[*agent.TokenResult](k, readers(p)).Token
		k.commit(&agent.RevokeToken{ID: second.ID}, &agent.RevokeToken{ID: third.ID})
		k.lacks(agent.CodeNotFound, &agent.GetToken{ID: third.ID})
	}},

	{"a_refused_commit_changes_no_token", func(k *kit) {
		op := readers(newName("p"))
		k.refuse(agent.CodeRevisionMismatch, 1, op, &agent.PutValue{Key: "v", IfRevision: ptr(uint64(7))})
		k.lacks(agent.CodeNotFound, &agent.GetToken{ID: op.Hash.TokenID()})
	}},

	{"a_token_has_valid_grants", func(k *kit) {
		for field, change := range map[string]func(op *agent.PutToken){
			"hash":             func(op *agent.PutToken) { op.Hash = agent.TokenHash{} },
			"principal":        func(op *agent.PutToken) { op.Principal = "" },
			"grants":           func(op *agent.PutToken) { op.Grants = nil },
			"grants[0].verbs":  func(op *agent.PutToken) { op.Grants[0].Verbs = []agent.Verb{"fly"} },
			"grants[0].scopes": func(op *agent.PutToken) { op.Grants[0].Scopes = nil },
		} {
			op := readers("p")
			change(op)
			k.refuseInvalid(agent.CodeInvalid, 0, field, op)
		}
		for field, grants := range map[string][]agent.Grant{
			"grants":           make([]agent.Grant, agent.TokenGrantsMax+1),
			"grants[0].scopes": {{Verbs: []agent.Verb{agent.VerbRead}, Scopes: make([]string, agent.TokenGrantScopesMax+1)}},
		} {
			op := readers("p")
			op.Grants = grants
			k.refuseInvalid(agent.CodeTooLarge, 0, field, op)
		}
	}},

	{"a_token_may_have_as_many_grants_as_the_limits_allow", func(k *kit) {
		op := readers(newName("p"))
		op.Grants = nil
		left := agent.TokenGrantsBytesMax
		for i := range agent.TokenGrantsMax {
			g := agent.Grant{Verbs: []agent.Verb{agent.VerbRead}, Scopes: []string{fmt.Sprintf("s%d", i)}}
			left -= len(agent.VerbRead) + len(g.Scopes[0])
			op.Grants = append(op.Grants, g)
		}
		for i := 0; left > 0; i++ {
			n := min(left, agent.IDBytesMax)
			op.Grants[i].Scopes = append(op.Grants[i].Scopes, strings.Repeat("x", n))
			left -= n
		}
		got := apply[*agent.TokenResult](k, op).Token
		k.equal("grants", got.Grants, op.Grants)
		apply[*agent.DeleteResult](k, &agent.RevokeToken{ID: got.ID})
		op.Grants[0].Scopes[0] += "x"
		k.refuseInvalid(agent.CodeTooLarge, 0, "grants", op)
	}},
}
