package access

import (
	"context"
	"slices"
	"strings"
	"time"

	"dormouse/agent"
)

// Principal is the caller of a request: a name and its grants.
type Principal struct {
	Name    string
	Grants  []agent.Grant
	TokenID string // "" if it used no token
	Source  Source
	Until   time.Time // when its credentials expire, if the state has no token that says so; zero means never
}

// Source is where a principal comes from.
type Source string

// SourceToken is the source of the principals of tokens.
const SourceToken Source = "token"

type principalKey struct{}

// With returns a context that carries p.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From returns the principal that ctx carries, or nil.
func From(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// Call is what a server knows about a call besides its principal.
type Call struct {
	Address string // of the caller: host:port
	Method  string // the HTTP operation, such as put-value, the full gRPC method, or redis/ and a command
}

type callKey struct{}

// WithCall returns a context that carries c.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf returns the call that ctx carries, or an empty one.
func CallOf(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

// Subject is what a refused call was about, as far as its server knows.
type Subject struct {
	Action string       // such as delete_thread
	Verbs  []agent.Verb // that the call needs
	Scope  string       // "" means the default scope, if one of the verbs is about a scope
	Object []string     // the ids that name the object
}

// Auditor records refused calls. It must not block.
type Auditor interface {
	// Denied records that the call in ctx was refused with err. It ignores errors that are neither
	// unauthenticated nor forbidden.
	Denied(ctx context.Context, about Subject, err error)
}

// May reports whether p has verb: in the scope, or in the cluster if it is a cluster verb.
func (p *Principal) May(verb agent.Verb, scope string) bool {
	for _, g := range p.Grants {
		if slices.Contains(g.Verbs, verb) && (verb.OfCluster() || g.Covers(scope)) {
			return true
		}
	}
	return false
}

// Sees reports whether p has any scope verb in the scope.
func (p *Principal) Sees(scope string) bool {
	return slices.ContainsFunc(agent.ScopeVerbs(), func(v agent.Verb) bool { return p.May(v, scope) })
}

// check returns a forbidden error if p lacks one of the verbs.
func (p *Principal) check(need []agent.Verb, scope string) *agent.Error {
	for _, verb := range need {
		if p.May(verb, scope) {
			continue
		}
		if verb.OfCluster() {
			return agent.Errorf(agent.CodeForbidden, "principal %q lacks the verb %s: use a token that grants it", p.Name, verb)
		}
		return agent.Errorf(agent.CodeForbidden, "principal %q lacks the verb %s in scope %q: use a token that grants it", p.Name, verb, scope)
	}
	return nil
}

// Prefixes of the names of principals that have no token of the cluster: by default those of client certificates, and
// those of an OIDC issuer.
const (
	CertificatePrefix = "cert:"
	OIDCPrefix        = "oidc:"
)

// mayCreate returns a forbidden error if p may not create a token. Some names have rights of their own: that of root,
// see agent.KeepsPolicy, and those that a certificate or an OIDC issuer proves, which reviews may name as deciders.
// Only a principal with the name gives it to a token, or one that may do everything.
func (p *Principal) mayCreate(put *agent.PutToken) *agent.Error {
	reserved := put.Principal == agent.RootPrincipal || strings.HasPrefix(put.Principal, CertificatePrefix) || strings.HasPrefix(put.Principal, OIDCPrefix)
	if reserved && p.Name != put.Principal {
		if refusal := p.mayGrant(agent.Everything()); refusal != nil {
			return agent.Errorf(agent.CodeForbidden, "principal %q may not do everything, and so cannot create a token of %q: name another principal", p.Name, put.Principal)
		}
	}
	return p.mayGrant(put.Grants)
}

// mayGrant returns a forbidden error if p does not have all of the grants itself. So a principal
// with tokens:change cannot create a token that may do more than its own.
func (p *Principal) mayGrant(grants []agent.Grant) *agent.Error {
	for _, g := range grants {
		for _, verb := range g.Verbs {
			if verb.OfCluster() {
				if !p.May(verb, "") {
					return agent.Errorf(agent.CodeForbidden, "principal %q lacks the verb %s, and so cannot grant it", p.Name, verb)
				}
				continue
			}
			for _, scope := range g.Scopes {
				if !p.May(verb, scope) {
					return agent.Errorf(agent.CodeForbidden, "principal %q lacks the verb %s in scope %q, and so cannot grant it", p.Name, verb, scope)
				}
			}
		}
	}
	return nil
}
