package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
)

// store is an access.Store. A token in late is known after a barrier.
type store struct {
	known, late map[agent.TokenHash]agent.Token
	barriers    int
	fault       error
}

func (s *store) Token(hash agent.TokenHash) (agent.Token, bool, error) {
	t, ok := s.known[hash]
	return t, ok, nil
}

func (s *store) Barrier(context.Context) error {
	s.barriers++
	if s.fault == nil {
		s.known = s.late
	}
	return s.fault
}

// attempt authenticates a header from an address and returns the code of the outcome.
func attempt(a *access.Authenticator, address, header string) agent.Code {
	_, err := a.Authorization(context.Background(), address, header)
	return agent.CodeOf(err)
}

func TestAuthorization(t *testing.T) {
	secret, young := access.NewSecret(), access.NewSecret()
	of := func(secret, principal string) (agent.TokenHash, agent.Token) {
		h := agent.HashToken(secret)
		return h, agent.Token{ID: h.TokenID(), Principal: principal, Grants: agent.Everything()}
	}
	s := &store{known: map[agent.TokenHash]agent.Token{}, late: map[agent.TokenHash]agent.Token{}}
	for _, one := range []string{secret, young} {
		h, token := of(one, "p")
		s.late[h] = token
		if one == secret {
			s.known[h] = token
		}
	}
	now := time.Unix(1_000_000, 0)
	var told []string
	a := access.NewAuthenticator(access.Options{
		Store: s, Now: func() time.Time { return now },
		Refused: func(address, reason string) { told = append(told, address+" "+reason) },
	})
	const here = "192.0.2.1:4711"
	p, err := a.Authorization(t.Context(), here, "Bearer "+secret)
	if err != nil || p.Name != "p" || p.Source != access.SourceToken || s.barriers != 0 {
		t.Fatalf("%+v, %v, %d barriers", p, err, s.barriers)
	}
	if a.LastUsed(p.TokenID) != now.UnixMilli() || a.LastUsed("tok_other") != 0 {
		t.Error("the use of the token is not recorded")
	}
	if code := attempt(a, here, "bearer "+young); code != "" || s.barriers != 1 {
		t.Errorf("a token that is too new for the node: %s after %d barriers", code, s.barriers)
	}
	for _, header := range []string{"", "Bearer", "Bearer ", "Basic " + secret, "Bearer x" + secret, "Bearer " + strings.Repeat("x", 600)} {
		if code := attempt(a, here, header); code != agent.CodeUnauthenticated {
			t.Errorf("%.20q: %s", header, code)
		}
	}
	if s.barriers != 1 || len(told) != 1 || !strings.HasPrefix(told[0], "192.0.2.1 ") {
		t.Errorf("%d barriers, told %q", s.barriers, told)
	}
	s.fault = errors.New("no leader")
	if code := attempt(a, here, "Bearer "+access.NewSecret()); code != agent.CodeUnavailable {
		t.Errorf("without a leader: %s", code)
	}
	if code := attempt(a, here, "Bearer "+secret); code != "" {
		t.Errorf("a known token without a leader: %s", code)
	}
}

// An address that guesses costs a bounded number of barriers and log lines. Its neighbours, and
// valid tokens of its own, are not affected.
func TestGuessesAreLimitedPerAddress(t *testing.T) {
	secret := access.NewSecret()
	h := agent.HashToken(secret)
	s := &store{known: map[agent.TokenHash]agent.Token{h: {ID: h.TokenID(), Principal: "p"}}}
	s.late = s.known
	now, told := time.Unix(1_000_000, 0), 0
	a := access.NewAuthenticator(access.Options{Store: s, Now: func() time.Time { return now }, Refused: func(string, string) { told++ }})
	outcomes := map[agent.Code]int{}
	for i := range 1000 {
		address := []string{"[2001:db8::1]:1", "[2001:db8::2]:2"}[i%2] // of one /64
		outcomes[attempt(a, address, "Bearer "+access.NewSecret())]++
	}
	if outcomes[agent.CodeUnauthenticated] != s.barriers || s.barriers > 40 || outcomes[agent.CodeOverloaded] != 1000-s.barriers || told != 1 {
		t.Errorf("%v, %d barriers, told %d times", outcomes, s.barriers, told)
	}
	if code := attempt(a, "[2001:db8::1]:3", "Bearer "+secret); code != "" {
		t.Errorf("a valid token of the same address: %s", code)
	}
	if code := attempt(a, "[2001:db8:0:1::1]:3", "Bearer "+access.NewSecret()); code != agent.CodeUnauthenticated {
		t.Errorf("another address: %s", code)
	}
	now = now.Add(11 * time.Second)
	if code := attempt(a, "[2001:db8::1]:3", "Bearer "+access.NewSecret()); code != agent.CodeUnauthenticated || told != 3 {
		t.Errorf("later: %s, told %d times", code, told)
	}
}

// bearers knows one token of another issuer, and keeps none.
type bearers string

func (bearers) Kept(string) *access.Principal { return nil }

func (b bearers) Principal(_ context.Context, bearer string) (*access.Principal, error) {
	if bearer != string(b) {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "the issuer did not sign it")
	}
	return &access.Principal{Name: "oidc:anna", Source: access.SourceOIDC}, nil
}

// A node with another issuer takes the tokens of both, and asks the issuer about none of the cluster's own.
func TestTokensOfBothIssuersAreTaken(t *testing.T) {
	secret := access.NewSecret()
	h := agent.HashToken(secret)
	s := &store{known: map[agent.TokenHash]agent.Token{h: {ID: h.TokenID(), Principal: "p"}}}
	s.late = s.known
	a := access.NewAuthenticator(access.Options{Store: s, Bearers: bearers("a.b.c")})
	for bearer, want := range map[string]string{secret: "p", "a.b.c": "oidc:anna", "a.b.d": "", access.NewSecret(): "", strings.Repeat("x", 13<<10): ""} {
		p, err := a.Authorization(t.Context(), "192.0.2.1:1", "Bearer "+bearer)
		switch {
		case want == "" && agent.CodeOf(err) != agent.CodeUnauthenticated:
			t.Errorf("%.20q: %+v, %v", bearer, p, err)
		case want != "" && (err != nil || p.Name != want):
			t.Errorf("%.20q: %+v, %v, want %s", bearer, p, err, want)
		}
	}
}

// The times of use are kept for about as many tokens as may exist: revoked ones must not fill the memory.
func TestTheTimesOfUseAreBounded(t *testing.T) {
	s := &store{known: map[agent.TokenHash]agent.Token{}}
	now := time.Unix(1_000_000, 0)
	a := access.NewAuthenticator(access.Options{Store: s, Now: func() time.Time { return now }})
	secret := access.NewSecret()
	h := agent.HashToken(secret)
	const tokens = 2*agent.TokensMax + 1
	for i := range tokens {
		s.known[h] = agent.Token{ID: fmt.Sprint("tok_", i), Principal: "p"}
		if _, err := a.Authorization(t.Context(), "192.0.2.1:1", "Bearer "+secret); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for i := range tokens {
		if a.LastUsed(fmt.Sprint("tok_", i)) != 0 {
			kept++
		}
	}
	if kept > 2*agent.TokensMax || a.LastUsed(fmt.Sprint("tok_", tokens-1)) == 0 {
		t.Errorf("%d times are kept", kept)
	}
}
