package document

import (
	"encoding/hex"

	"dormouse/agent"
)

var tokenOps = map[string]func() wireOp{
	"put_token":    func() wireOp { return new(putTokenOp) },
	"revoke_token": func() wireOp { return new(revokeTokenOp) },
}

// Grant gives verbs on scopes.
type Grant struct {
	Scopes []string `json:"scopes,omitempty" doc:"Names of scopes, or prefixes such as team-*; * means all. Cluster verbs need none"`
	Verbs  []string `json:"verbs" doc:"read, write, run, decide, admin; cluster:read, cluster:change, cluster:backup, scopes:policy, tokens:change"`
}

// GrantsOf returns the documents of grants.
func GrantsOf(grants []agent.Grant) []Grant {
	return rowsOf(grants, func(g agent.Grant) Grant {
		verbs := make([]string, len(g.Verbs))
		for i, verb := range g.Verbs {
			verbs[i] = string(verb)
		}
		return Grant{Scopes: g.Scopes, Verbs: verbs}
	})
}

func grantsToAgent(grants []Grant) []agent.Grant {
	out := make([]agent.Grant, len(grants))
	for i, g := range grants {
		out[i].Scopes = g.Scopes
		for _, verb := range g.Verbs {
			out[i].Verbs = append(out[i].Verbs, agent.Verb(verb))
		}
	}
	return out
}

// Token is a token without its secret.
type Token struct {
	ID        string  `json:"id"`
	Principal string  `json:"principal"`
	Grants    []Grant `json:"grants" nullable:"false"`
	CreatedAt int64   `json:"created_at"`
	CreatedBy string  `json:"created_by,omitempty" doc:"The principal that created it"`
	ExpiresAt int64   `json:"expires_at,omitzero" doc:"Absent if it never expires"`
	LastUsed  int64   `json:"last_used,omitzero" doc:"When the answering node last saw it, to the minute; absent if not since that node started"`
}

// TokenOf returns the document of t.
func TokenOf(t agent.Token) Token {
	return Token{
		ID: t.ID, Principal: t.Principal, Grants: GrantsOf(t.Grants), CreatedAt: t.CreatedAt, CreatedBy: t.CreatedBy,
		ExpiresAt: t.ExpiresAt, LastUsed: t.LastUsed,
	}
}

// TokenBody asks for a token.
type TokenBody struct {
	Principal string  `json:"principal" doc:"Has at most two tokens at a time"`
	Grants    []Grant `json:"grants"`
	TTLMS     uint64  `json:"ttl_ms,omitempty" doc:"Never expires if absent"`
	Hash      string  `json:"hash,omitempty" doc:"SHA-256, in hex, of a secret that the caller has made; if absent, the node makes the secret"`
}

// ToOp returns the op that the body asks for. hash is that of the secret if the body names none.
func (b *TokenBody) ToOp(hash agent.TokenHash) (*agent.PutToken, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	if err != nil {
		return nil, err
	}
	if b.Hash != "" {
		raw, err := hex.DecodeString(b.Hash)
		if err != nil || len(raw) != len(hash) {
			return nil, agent.Invalid("hash", "hash must have %d hex digits: the SHA-256 of the secret", 2*len(hash))
		}
		copy(hash[:], raw)
	}
	return &agent.PutToken{Hash: hash, Principal: b.Principal, Grants: grantsToAgent(b.Grants), TTL: ttl}, nil
}

// CreatedToken is a token with its secret.
type CreatedToken struct {
	Token
	Secret string `json:"secret,omitempty" doc:"Shown once: the store keeps only its hash. Absent if the request had a hash"`
}

// Principal is the caller, as the answering node sees it.
type Principal struct {
	Principal string  `json:"principal" doc:"Empty if the node asks for no credentials"`
	Grants    []Grant `json:"grants" nullable:"false"`
	TokenID   string  `json:"token_id,omitempty"`
	Source    string  `json:"source,omitempty" doc:"token"`
	Auth      string  `json:"auth" doc:"Of the node: tokens, or off"`
}

type putTokenOp struct {
	opName
	TokenBody
}

func (o *putTokenOp) op() (agent.Op, error) { return o.ToOp(agent.TokenHash{}) }

type revokeTokenOp struct {
	opName
	ID string `json:"id"`
}

func (o *revokeTokenOp) op() (agent.Op, error) { return &agent.RevokeToken{ID: o.ID}, nil }

type (
	listTokensRead struct{ orderedRead }
	getTokenRead   struct {
		readName
		ID string `json:"id"`
	}
)

func (r listTokensRead) read() agent.Read { return &agent.ListTokens{Page: r.page()} }
func (r getTokenRead) read() agent.Read   { return &agent.GetToken{ID: r.ID} }
