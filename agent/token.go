package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/internal/wildcard"
)

// Verb is a right: what a principal may do. A scope verb applies to the scopes of its
// grant, a cluster verb to the whole cluster.
type Verb string

// The scope verbs.
const (
	VerbRead   Verb = "read"   // reads and watches
	VerbWrite  Verb = "write"  // values, checkpoints, threads, conversations, memories
	VerbRun    Verb = "run"    // claims, sessions, managers, instances, timers
	VerbDecide Verb = "decide" // reviews
	VerbAdmin  Verb = "admin"  // erase an agent; delete, export or import a scope
)

// The cluster verbs. Their names have a colon.
const (
	VerbClusterRead   Verb = "cluster:read"   // members, placement, metrics
	VerbClusterChange Verb = "cluster:change" // membership and leadership
	VerbClusterBackup Verb = "cluster:backup" // a copy of the whole store
	VerbScopesPolicy  Verb = "scopes:policy"  // limits and retention of scopes
	VerbTokensChange  Verb = "tokens:change"  // create, list and revoke tokens
)

// ScopeVerbs returns the scope verbs.
func ScopeVerbs() []Verb { return []Verb{VerbRead, VerbWrite, VerbRun, VerbDecide, VerbAdmin} }

// ClusterVerbs returns the cluster verbs.
func ClusterVerbs() []Verb {
	return []Verb{VerbClusterRead, VerbClusterChange, VerbClusterBackup, VerbScopesPolicy, VerbTokensChange}
}

// OfCluster reports whether v is a cluster verb.
func (v Verb) OfCluster() bool { return strings.Contains(string(v), ":") }

// Grant gives verbs on scopes. An element of Scopes is the name of a scope, or a prefix
// followed by "*". The cluster verbs in a grant ignore Scopes, which may be empty if
// there are no other verbs.
type Grant struct {
	Scopes []string
	Verbs  []Verb
}

// Covers reports whether the grant is for a scope. Of a pattern, it reports whether the
// grant is for all scopes of that pattern.
func (g Grant) Covers(scope string) bool {
	return slices.ContainsFunc(g.Scopes, func(pattern string) bool { return wildcard.Match(pattern, scope) })
}

// RootPrincipal is the principal of the root token, which may do everything.
const RootPrincipal = "root"

// KeepsPolicy reports whether a scope keeps its own policy when the principal deletes it. It takes another
// right to change a policy than to delete data, which this caller may lack. "" is a caller of a cluster
// without tokens.
func KeepsPolicy(principal string) bool { return principal != "" && principal != RootPrincipal }

// Everything returns the grants of the root token: all verbs on all scopes.
func Everything() []Grant {
	return []Grant{{Scopes: []string{"*"}, Verbs: append(ScopeVerbs(), ClusterVerbs()...)}}
}

// Token is a token without its secret.
type Token struct {
	ID        string
	Principal string
	Grants    []Grant
	CreatedAt int64  // Unix ms
	CreatedBy string // the principal that created it; "" if the caller had none
	ExpiresAt int64  // Unix ms; 0 means never

	// LastUsed is when the answering node last saw the token, in Unix ms. 0 means not
	// since that node started: nodes keep it in memory only.
	LastUsed int64
}

// TokenHash is the SHA-256 of a token's secret. The store holds no secrets.
type TokenHash [sha256.Size]byte

// HashToken returns the hash of a secret.
func HashToken(secret string) TokenHash { return sha256.Sum256([]byte(secret)) }

// TokenID returns the id of the token with this hash. It is derived, so that a node
// finds a token by its secret, and so that a repeated PutToken names the same token.
func (h TokenHash) TokenID() string { return tokenIDPrefix + hex.EncodeToString(h[:tokenIDBytes]) }

const (
	tokenIDPrefix = "tok_"
	tokenIDBytes  = 8
)

// PutToken creates a token. If a token with the same hash and the same principal
// exists, the op changes nothing and returns that token.
//
// A principal has at most TokensOfPrincipalMax tokens, so that one can be replaced while
// the other is in use. One more is too_large, as is a token past TokensMax.
type PutToken struct {
	Hash      TokenHash
	Principal string
	Grants    []Grant
	TTL       time.Duration // in log time; 0 means that it never expires
	Founding  bool          // the first token of a cluster: already_exists if the cluster ever had one
}

// RevokeToken removes a token. Commits with the token that come later in the log are
// unauthenticated. Revoking a missing token succeeds.
type RevokeToken struct{ ID string }

// TokenResult is the result of PutToken.
type TokenResult struct{ Token Token }

func (*TokenResult) isOpResult() {}

// GetToken reads a token by its id.
type GetToken struct{ ID string }

// ListTokens lists tokens in the order of their ids.
type ListTokens struct{ Page }

func (*GetToken) isRead()   {}
func (*ListTokens) isRead() {}

// TokenList is a page of tokens.
type TokenList struct {
	Items []Token
	Next  string // the After of the next page; "" means none
}

func (*Token) isFound()     {}
func (*TokenList) isFound() {}

func (o *PutToken) validateOp(t *tally) error {
	t.bytes += len(o.Principal) + GrantsBytes(o.Grants)
	if o.Hash == (TokenHash{}) {
		return Invalid("hash", "hash is missing: give the SHA-256 of the token's secret")
	}
	return firstOf(ValidID("principal", o.Principal), validSpan("ttl", o.TTL, TTLMax), ValidGrants(o.Grants))
}

func (o *RevokeToken) validateOp(t *tally) error {
	t.bytes += len(o.ID)
	return ValidID("id", o.ID)
}

// GrantsBytes returns the bytes of scopes and verbs in the grants.
func GrantsBytes(grants []Grant) int {
	size := 0
	for _, g := range grants {
		for _, scope := range g.Scopes {
			size += len(scope)
		}
		for _, verb := range g.Verbs {
			size += len(verb)
		}
	}
	return size
}

// ValidGrants returns an error if a token may not have these grants.
func ValidGrants(grants []Grant) error {
	if len(grants) == 0 {
		return Invalid("grants", "grants is empty: a token without grants may do nothing")
	}
	if len(grants) > TokenGrantsMax {
		return TooLarge("grants", "token_grants_max", len(grants), TokenGrantsMax)
	}
	for i, g := range grants {
		if err := g.validate(); err != nil {
			return within(err, fmt.Sprintf("grants[%d]", i))
		}
	}
	if size := GrantsBytes(grants); size > TokenGrantsBytesMax {
		return TooLarge("grants", "token_grants_bytes_max", size, TokenGrantsBytesMax)
	}
	return nil
}

func (g Grant) validate() error {
	if len(g.Verbs) == 0 {
		return Invalid("verbs", "verbs is empty: name at least one of %v", append(ScopeVerbs(), ClusterVerbs()...))
	}
	scoped := false
	for _, verb := range g.Verbs {
		if !slices.Contains(ScopeVerbs(), verb) && !slices.Contains(ClusterVerbs(), verb) {
			return Invalid("verbs", "verb %q is unknown: use one of %v", verb, append(ScopeVerbs(), ClusterVerbs()...))
		}
		scoped = scoped || !verb.OfCluster()
	}
	if scoped && len(g.Scopes) == 0 {
		return Invalid("scopes", "scopes is empty: name the scopes, or * for all")
	}
	if n := len(g.Scopes); n > TokenGrantScopesMax {
		return TooLarge("scopes", "token_grant_scopes_max", n, TokenGrantScopesMax)
	}
	if n, most := len(g.Verbs), len(ScopeVerbs())+len(ClusterVerbs()); n > most {
		return Invalid("verbs", "verbs has %d elements, more than there are verbs: name each once", n)
	}
	for _, scope := range g.Scopes {
		if err := ValidKey("scopes", scope); err != nil {
			return err
		}
	}
	return nil
}
