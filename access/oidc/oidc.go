// Package oidc finds the principals of bearer tokens of an OpenID Connect issuer.
//
// A token is a JWT that the issuer has signed, for one audience, with one of the allowed algorithms. The
// issuer's keys are fetched when they are first needed, and kept, so tokens are accepted also while
// the issuer is down. The issuer may be down when a node starts.
package oidc

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	upstream "github.com/coreos/go-oidc/v3/oidc"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/internal/wildcard"
)

// Rule gives grants to the tokens with a claim.
type Rule struct {
	Claim  string // a name, such as groups
	Value  string // of the claim, or of an element if it is a list; a value that ends with * is a prefix
	Grants []agent.Grant
}

// Options configure a Verifier.
type Options struct {
	Issuer     string   // the URL in the tokens, below which the discovery document is
	Audience   string   // that tokens must have
	Algorithms []string // of signatures, such as RS256
	Claim      string   // that names the principal, such as sub
	Rules      []Rule   // a token has the grants of all that match
	Transport  http.RoundTripper
}

const (
	fetchTimeout = 5 * time.Second
	fetchEvery   = 5 * time.Second // one more fetch of the issuer's documents
	fetchBurst   = 4
	keptMax      = 4096            // tokens that were verified lately
	keptFor      = 5 * time.Minute // after this time a token is verified again, with the keys that the issuer has then
	nameBytesMax = agent.IDBytesMax
	detailMax    = 256 // characters of an error, which may have what the issuer answered
)

// Verifier implements access.Bearers. It may be used concurrently.
type Verifier struct {
	o      Options
	client *http.Client

	found    singleflight.Group // looks for the issuer
	mu       sync.Mutex
	verifier *upstream.IDTokenVerifier                // guarded by mu; nil until the issuer was found
	kept     *simplelru.LRU[[sha256.Size]byte, *kept] // guarded by mu
}

// kept is a token that was verified.
type kept struct {
	principal *access.Principal
	until     time.Time
}

var _ access.Bearers = (*Verifier)(nil)

// New returns a verifier. It fetches nothing yet.
func New(o Options) *Verifier {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	all, err := simplelru.NewLRU[[sha256.Size]byte, *kept](keptMax, nil)
	if err != nil {
		panic(err) // only a size of 0 can cause this
	}
	return &Verifier{
		o: o, kept: all,
		client: &http.Client{Timeout: fetchTimeout, Transport: &paced{o.Transport, rate.NewLimiter(rate.Every(fetchEvery), fetchBurst)}},
	}
}

// paced bounds how often the issuer is asked: a token with an unknown key must not cause a request each.
type paced struct {
	inner http.RoundTripper
	limit *rate.Limiter
}

var errPaced = errors.New("the issuer was asked too often just now")

// RoundTrip implements http.RoundTripper.
func (p *paced) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.limit.Allow() {
		return nil, errPaced
	}
	return p.inner.RoundTrip(r)
}

// Kept implements access.Bearers.
func (v *Verifier) Kept(bearer string) *access.Principal {
	digest := sha256.Sum256([]byte(bearer))
	v.mu.Lock()
	defer v.mu.Unlock()
	if one, ok := v.kept.Get(digest); ok && time.Now().Before(one.until) {
		return one.principal
	}
	return nil
}

// Principal implements access.Bearers.
func (v *Verifier) Principal(ctx context.Context, bearer string) (*access.Principal, error) {
	if p := v.Kept(bearer); p != nil {
		return p, nil
	}
	now := time.Now()
	if strings.Count(bearer, ".") != 2 {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "the token is neither a token of this cluster nor a JWT")
	}
	verifier, err := v.discover(ctx)
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this node cannot check the token now: the issuer %s does not answer: %.*s", v.o.Issuer, detailMax, err)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	fetch := new(fetched)
	token, err := verifier.Verify(context.WithValue(ctx, fetchedKey{}, fetch), bearer)
	switch {
	case err != nil && errors.Is(fetch.failed, errPaced):
		e := agent.Errorf(agent.CodeOverloaded, "no key of %s that this node knows has signed the token, and the keys were fetched just now: try again later", v.o.Issuer)
		e.RetryAfterMS = fetchEvery.Milliseconds()
		return nil, e
	case err != nil && fetch.failed != nil:
		return nil, agent.Errorf(agent.CodeUnavailable, "this node cannot check the token now: the keys of %s cannot be fetched: %.*s", v.o.Issuer, detailMax, fetch.failed)
	case err != nil:
		return nil, agent.Errorf(agent.CodeUnauthenticated, "the token is refused: %v", err)
	}
	p, err := v.principal(token)
	if err != nil {
		return nil, err
	}
	until := now.Add(keptFor)
	if token.Expiry.Before(until) {
		until = token.Expiry
	}
	v.mu.Lock()
	v.kept.Add(sha256.Sum256([]byte(bearer)), &kept{p, until})
	v.mu.Unlock()
	return p, nil
}

// discover returns the verifier. Callers that look for the issuer at once share one attempt and its
// error, so that none of them waits longer than fetchTimeout.
func (v *Verifier) discover(ctx context.Context) (*upstream.IDTokenVerifier, error) {
	v.mu.Lock()
	known := v.verifier
	v.mu.Unlock()
	if known != nil {
		return known, nil
	}
	looked := v.found.DoChan("", func() (any, error) { return v.look(context.WithoutCancel(ctx)) })
	select {
	case r := <-looked:
		verifier, _ := r.Val.(*upstream.IDTokenVerifier)
		return verifier, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// look looks for the issuer. The keys are fetched later with ctx too: it must not end with a call.
func (v *Verifier) look(ctx context.Context) (*upstream.IDTokenVerifier, error) {
	provider, err := upstream.NewProvider(upstream.ClientContext(ctx, v.client), v.o.Issuer)
	if err != nil {
		return nil, err
	}
	var document struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, err
	}
	keys := &keySet{upstream.NewRemoteKeySet(upstream.ClientContext(ctx, v.client), document.Keys)}
	known := upstream.NewVerifier(v.o.Issuer, keys, &upstream.Config{ClientID: v.o.Audience, SupportedSigningAlgs: v.o.Algorithms})
	v.mu.Lock()
	v.verifier = known
	v.mu.Unlock()
	return known, nil
}

// fetched is how the keys of one verification were fetched.
type fetched struct{ failed error }

type fetchedKey struct{}

// keySet notes that keys could not be fetched: then a token is not wrong, but unchecked.
type keySet struct{ *upstream.RemoteKeySet }

// VerifySignature implements oidc.KeySet.
func (k *keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.RemoteKeySet.VerifySignature(ctx, jwt)
	if note, ok := ctx.Value(fetchedKey{}).(*fetched); ok && err != nil && strings.HasPrefix(err.Error(), "fetching keys") {
		note.failed = err
	}
	return payload, err
}

// principal returns the principal of a verified token.
func (v *Verifier) principal(token *upstream.IDToken) (*access.Principal, error) {
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "the claims of the token are not readable: %v", err)
	}
	name, _ := claims[v.o.Claim].(string)
	if name == "" {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "the token has no claim %q with a text, which names the principal", v.o.Claim)
	}
	name = access.OIDCPrefix + name
	if len(name) > nameBytesMax || agent.ValidID("principal", name) != nil {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "the claim %q of the token is not a valid name of a principal", v.o.Claim)
	}
	p := &access.Principal{Name: name, Source: access.SourceOIDC, Until: token.Expiry}
	for _, rule := range v.o.Rules {
		if rule.matches(claims[rule.Claim]) {
			p.Grants = append(p.Grants, rule.Grants...)
		}
	}
	return p, nil
}

func (r Rule) matches(claim any) bool {
	switch claim := claim.(type) {
	case string:
		return wildcard.Match(r.Value, claim)
	case []any:
		return slices.ContainsFunc(claim, func(one any) bool {
			text, ok := one.(string)
			return ok && r.matches(text)
		})
	default:
		return false
	}
}
