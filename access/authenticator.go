package access

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"dormouse/agent"
)

// Store finds tokens on this node.
type Store interface {
	// Token returns the token with a hash, as of the newest entry that this node has applied. The
	// time that it takes does not depend on how much of a hash matches.
	Token(hash agent.TokenHash) (agent.Token, bool, error)

	// Barrier returns once this node has applied all that was committed before the call.
	Barrier(ctx context.Context) error
}

// Options configure an Authenticator.
type Options struct {
	Store Store

	// Refused is called with the address and the reason of refused tokens, at most once per address
	// in ten seconds. It never gets a token. nil means no calls.
	Refused func(address, reason string)

	Certificates *Certificates // principals of client certificates; nil means none
	Bearers      Bearers       // principals of bearer tokens of other issuers; nil means none

	Now func() time.Time // nil means time.Now
}

// Bearers finds the principals of bearer tokens that are not tokens of this cluster.
type Bearers interface {
	// Kept returns the principal of a bearer token that was verified lately, and is valid; nil if it must
	// be verified. It is cheap.
	Kept(bearer string) *Principal

	// Principal returns the principal of a bearer token. Errors are unauthenticated; overloaded if no
	// known key has signed it, and it is too early to look for another one; or unavailable if it cannot be
	// checked now. They never contain the token.
	Principal(ctx context.Context, bearer string) (*Principal, error)
}

// Credentials are what a caller proves.
type Credentials struct {
	Address string                // of the caller
	Header  string                // Authorization; "" means none
	Chains  [][]*x509.Certificate // of its client certificate, verified by the TLS server; nil means none
}

// Limits of failed attempts with well-formed tokens that do not exist, and with bearer tokens that another
// issuer did not sign. Further attempts of the same address are overloaded, and cost no barrier and no
// verification. Tokens that this node knows are not affected.
const (
	failuresBurst  = 32
	failuresEvery  = time.Second // one more attempt
	addressesMax   = 4096        // addresses whose failures are remembered
	refusedEvery   = 10 * time.Second
	retryAfterMS   = 1000
	authorizeBytes = 512      // of an Authorization header
	bearerBytes    = 12 << 10 // …if other issuers have bearer tokens
	usedEvery      = time.Minute
)

// Authenticator finds the principals of requests. It may be used concurrently.
type Authenticator struct {
	o Options

	mu        sync.Mutex
	addresses *simplelru.LRU[string, *failures] // guarded by mu
	used      map[string]int64                  // guarded by mu; token id → Unix ms, coarsely; of existing tokens only
}

// failures is what an address has done wrong.
type failures struct {
	limit *rate.Limiter
	told  time.Time // when Refused was last called
}

// NewAuthenticator returns an authenticator.
func NewAuthenticator(o Options) *Authenticator {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refused == nil {
		o.Refused = func(string, string) {}
	}
	addresses, err := simplelru.NewLRU[string, *failures](addressesMax, nil)
	if err != nil {
		panic(err) // only a size of 0 can cause this
	}
	return &Authenticator{o: o, addresses: addresses, used: map[string]int64{}}
}

// Authenticate returns the principal of a request. An Authorization header counts before a client
// certificate. Errors are as of Authorization.
func (a *Authenticator) Authenticate(ctx context.Context, c Credentials) (*Principal, error) {
	if c.Header != "" || len(c.Chains) == 0 || a.o.Certificates == nil {
		return a.Authorization(ctx, c.Address, c.Header)
	}
	if p := a.o.Certificates.Principal(c.Chains); p != nil {
		return p, nil
	}
	return nil, a.refused(c.Address, agent.Errorf(agent.CodeUnauthenticated, "the client certificate matches no rule of this node, and the call has no token"))
}

// Authorization returns the principal of a request from an address with this Authorization header.
// Errors are unauthenticated, overloaded, or unavailable if this node cannot tell.
func (a *Authenticator) Authorization(ctx context.Context, address, header string) (*Principal, error) {
	if header == "" {
		return nil, unauthenticated()
	}
	most := authorizeBytes
	if a.o.Bearers != nil {
		most = bearerBytes
	}
	if len(header) > most {
		return nil, a.refused(address, agent.Errorf(agent.CodeUnauthenticated, "the Authorization header has %d bytes, more than any token", len(header)))
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, a.refused(address, agent.Errorf(agent.CodeUnauthenticated, "the scheme of the Authorization header must be Bearer"))
	}
	if a.o.Bearers != nil && !strings.HasPrefix(secret, secretPrefix) {
		return a.bearer(ctx, address, secret)
	}
	if err := CheckSecret(secret); err != nil {
		return nil, a.refused(address, err)
	}
	return a.token(ctx, address, agent.HashToken(secret))
}

// bearer returns the principal of a bearer token of another issuer. Only tokens that no known key has
// signed, or that are refused for what they say, count as attempts.
func (a *Authenticator) bearer(ctx context.Context, address, bearer string) (*Principal, error) {
	if p := a.o.Bearers.Kept(bearer); p != nil {
		return p, nil
	}
	if !a.mayTry(address) {
		return nil, a.exhausted(address)
	}
	p, err := a.o.Bearers.Principal(ctx, bearer)
	if code := agent.CodeOf(err); err != nil && (code == agent.CodeUnauthenticated || code == agent.CodeOverloaded) {
		a.mayFail(address)
		err = a.refused(address, err)
	}
	return p, err
}

// token returns the principal of the token with a hash. A token that this node does not know may be
// too new for it: then it catches up first.
func (a *Authenticator) token(ctx context.Context, address string, hash agent.TokenHash) (*Principal, error) {
	t, ok, err := a.o.Store.Token(hash)
	if err == nil && !ok {
		if !a.mayFail(address) {
			return nil, a.exhausted(address)
		}
		if err = a.o.Store.Barrier(ctx); err == nil {
			t, ok, err = a.o.Store.Token(hash)
		}
	}
	switch {
	case err != nil:
		return nil, agent.Errorf(agent.CodeUnavailable, "this node cannot check the token now: %v", err)
	case !ok:
		return nil, a.refused(address, agent.Errorf(agent.CodeUnauthenticated, "the token does not exist: it was revoked, has expired, or belongs to another cluster"))
	}
	a.use(t.ID)
	return &Principal{Name: t.Principal, Grants: t.Grants, TokenID: t.ID, Source: SourceToken}, nil
}

// use records that a token was used.
func (a *Authenticator) use(id string) {
	now := a.o.Now().UnixMilli()
	a.mu.Lock()
	defer a.mu.Unlock()
	if last := a.used[id]; now-last < usedEvery.Milliseconds() {
		return
	}
	if len(a.used) >= 2*agent.TokensMax { // revoked ones are among them
		clear(a.used)
	}
	a.used[id] = now
}

// LastUsed returns when this node last saw a token, in Unix ms, to the minute; 0 means not since it
// started.
func (a *Authenticator) LastUsed(id string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used[id]
}

// mayFail counts an attempt with a token that this node does not know.
func (a *Authenticator) mayFail(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at(address).limit.AllowN(a.o.Now(), 1)
}

// mayTry reports whether mayFail would allow an attempt.
func (a *Authenticator) mayTry(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at(address).limit.TokensAt(a.o.Now()) >= 1
}

// exhausted refuses an address that has used up its attempts.
func (a *Authenticator) exhausted(address string) error {
	e := agent.Errorf(agent.CodeOverloaded, "too many wrong tokens from this address: try again later")
	e.RetryAfterMS = retryAfterMS
	return a.refused(address, e)
}

// refused reports a refusal, unless one of this address was reported lately.
func (a *Authenticator) refused(address string, err error) error {
	now := a.o.Now()
	a.mu.Lock()
	f := a.at(address)
	tell := f.told.IsZero() || now.Sub(f.told) >= refusedEvery
	if tell {
		f.told = now
	}
	a.mu.Unlock()
	if tell {
		a.o.Refused(network(address), err.Error())
	}
	return err
}

// at returns the failures of an address. mu is held.
func (a *Authenticator) at(address string) *failures {
	key := network(address)
	f, ok := a.addresses.Get(key)
	if !ok {
		f = &failures{limit: rate.NewLimiter(rate.Every(failuresEvery), failuresBurst)}
		a.addresses.Add(key, f)
	}
	return f
}

// network returns the part of host:port that identifies a caller: an IPv4 address, or the /64 of
// an IPv6 address.
func network(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}
