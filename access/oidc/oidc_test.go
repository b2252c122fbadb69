package oidc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"dormouse/access"
	"dormouse/access/oidc"
	"dormouse/agent"
)

// issuer is a real issuer on loopback, with a key of each kind.
type issuer struct {
	*httptest.Server
	t       *testing.T
	rsa     *rsa.PrivateKey
	ec      *ecdsa.PrivateKey
	fetches atomic.Int64 // of keys
	down    atomic.Bool
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t}
	var err error
	if i.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if i.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if i.down.Load() {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token",
			"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
		})
	case "/keys":
		i.fetches.Add(1)
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
			{Key: i.rsa.Public(), KeyID: "r", Algorithm: "RS256", Use: "sig"}, {Key: i.ec.Public(), KeyID: "e", Algorithm: "ES256", Use: "sig"},
		}})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// claims returns those of a token that is accepted.
func (i *issuer) claims() map[string]any {
	return map[string]any{
		"iss": i.URL, "aud": []string{"other", "dormouse"}, "sub": "anna", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		"groups": []string{"dorm-readers", "dorm-ops", "else"},
	}
}

func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, id string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (i *issuer) verifier() *oidc.Verifier {
	grant := func(verb agent.Verb) []agent.Grant {
		return []agent.Grant{{Scopes: []string{"team-*"}, Verbs: []agent.Verb{verb}}}
	}
	return oidc.New(oidc.Options{
		Issuer: i.URL, Audience: "dormouse", Algorithms: []string{"RS256", "ES256"}, Claim: "sub",
		Rules: []oidc.Rule{
			{Claim: "groups", Value: "dorm-read*", Grants: grant(agent.VerbRead)},
			{Claim: "groups", Value: "dorm-ops", Grants: grant(agent.VerbAdmin)},
			{Claim: "groups", Value: "dorm", Grants: grant(agent.VerbWrite)},
			{Claim: "sub", Value: "anna", Grants: grant(agent.VerbRun)},
		},
	})
}

func TestATokenOfTheIssuerHasThePrincipalAndTheGrantsOfItsClaims(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	for _, text := range []string{sign(t, jose.RS256, i.rsa, "r", i.claims()), sign(t, jose.ES256, i.ec, "e", i.claims())} {
		p, err := v.Principal(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != "oidc:anna" || p.Source != access.SourceOIDC || p.Until.Before(time.Now()) || p.TokenID != "" {
			t.Errorf("%+v", p)
		}
		for verb, may := range map[agent.Verb]bool{agent.VerbRead: true, agent.VerbAdmin: true, agent.VerbRun: true, agent.VerbWrite: false, agent.VerbDecide: false} {
			if p.May(verb, "team-a") != may || p.May(verb, "other") {
				t.Errorf("%s: %t", verb, !may)
			}
		}
	}
	powerless := i.claims()
	powerless["sub"], powerless["groups"] = "bob", "dorm-ops" // a text counts too
	if p, err := v.Principal(t.Context(), sign(t, jose.RS256, i.rsa, "r", powerless)); err != nil || len(p.Grants) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestWrongTokensAreRefused(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	with := func(name string, value any) map[string]any {
		claims := i.claims()
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
		return claims
	}
	raw := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	payload, err := json.Marshal(i.claims())
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, jose.RS256, i.rsa, "r", i.claims())
	if _, err := v.Principal(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	modulus := i.rsa.N.Bytes()
	for name, text := range map[string]string{
		"another audience":                 sign(t, jose.RS256, i.rsa, "r", with("aud", "other")),
		"no audience":                      sign(t, jose.RS256, i.rsa, "r", with("aud", nil)),
		"another issuer":                   sign(t, jose.RS256, i.rsa, "r", with("iss", "https://evil.example")),
		"expired":                          sign(t, jose.RS256, i.rsa, "r", with("exp", time.Now().Add(-time.Minute).Unix())),
		"without an expiry":                sign(t, jose.RS256, i.rsa, "r", with("exp", nil)),
		"not valid yet":                    sign(t, jose.RS256, i.rsa, "r", with("nbf", time.Now().Add(time.Hour).Unix())),
		"no principal":                     sign(t, jose.RS256, i.rsa, "r", with("sub", nil)),
		"a principal that hides":           sign(t, jose.RS256, i.rsa, "r", with("sub", "an\u202ena")),
		"a long principal":                 sign(t, jose.RS256, i.rsa, "r", with("sub", strings.Repeat("x", 600))),
		"a number as principal":            sign(t, jose.RS256, i.rsa, "r", with("sub", 7)),
		"a symmetric algorithm":            sign(t, jose.HS256, modulus, "r", i.claims()),
		"an algorithm that is not allowed": sign(t, jose.RS512, i.rsa, "r", i.claims()),
		"no signature":                     raw(`{"alg":"none"}`) + "." + raw(string(payload)) + ".",
		"a key of another":                 sign(t, jose.RS256, stranger, "r", i.claims()),
		"a changed signature":              good[:len(good)-6] + "AAAAAA",
		"changed claims":                   strings.Split(good, ".")[0] + "." + raw(strings.Replace(string(payload), "anna", "root", 1)) + "." + strings.Split(good, ".")[2],
		"no JWT":                           "abc",
		"three empty parts":                "..",
	} {
		p, err := v.Principal(t.Context(), text)
		code := agent.CodeOf(err)
		// A wrong signature may need the keys again, and the issuer is not asked without end.
		paced := code == agent.CodeOverloaded
		if p != nil || code != agent.CodeUnauthenticated && !paced {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if strings.Contains(err.Error(), text) && len(text) > 3 {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
	if _, err := v.Principal(t.Context(), good); err != nil {
		t.Error(err)
	}
}

// Tokens with unknown keys do not make the node ask the issuer without end.
// An address that guesses is soon refused before its tokens are verified. A token that was verified lately, and other
// addresses, are not affected.
func TestWrongTokensAreLimitedPerAddress(t *testing.T) {
	i := newIssuer(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := func(key *ecdsa.PrivateKey, claim, value string) string {
		claims := i.claims()
		claims[claim] = value
		return sign(t, jose.ES256, key, "e", claims)
	}
	kept, young := of(i.ec, "sub", "anna"), of(i.ec, "sub", "bob")
	for name, wrong := range map[string]string{"of another audience": of(i.ec, "aud", "other"), "forged": of(stranger, "sub", "anna")} {
		now := time.Now()
		a := access.NewAuthenticator(access.Options{Bearers: i.verifier(), Now: func() time.Time { return now }})
		attempt := func(address, bearer string) agent.Code {
			_, err := a.Authorization(t.Context(), address, "Bearer "+bearer)
			return agent.CodeOf(err)
		}
		const here, there = "192.0.2.1:1", "192.0.2.2:1"
		if code := attempt(here, kept); code != "" {
			t.Fatal(code)
		}
		for n := range 40 {
			code := attempt(here, wrong) // a forged one is overloaded earlier: the keys are not fetched for each
			if code != agent.CodeOverloaded && (code != agent.CodeUnauthenticated || n >= 32) || n < 32 && name != "forged" && code != agent.CodeUnauthenticated {
				t.Errorf("%s: token %d: %s", name, n+1, code)
			}
		}
		if code := attempt(here, kept); code != "" {
			t.Errorf("%s: a token that was verified: %s", name, code)
		}
		if code := attempt(here, young); code != agent.CodeOverloaded {
			t.Errorf("%s: a valid token that was not verified yet: %q", name, code)
		}
		if code := attempt(there, young); code != "" {
			t.Errorf("%s: a valid token of another address: %s", name, code)
		}
		now = now.Add(time.Second)
		if first, second := attempt(here, wrong), attempt(here, kept+"x"); first == "" || second != agent.CodeOverloaded {
			t.Errorf("%s: a second later: %s and %s", name, first, second)
		}
	}
}

func TestAFloodOfUnknownKeysAsksTheIssuerRarely(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	if _, err := v.Principal(t.Context(), sign(t, jose.ES256, i.ec, "e", i.claims())); err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		claims := i.claims()
		claims["n"] = n
		if _, err := v.Principal(t.Context(), sign(t, jose.ES256, other, "unknown", claims)); err == nil {
			t.Fatal("a token with an unknown key is accepted")
		}
	}
	if n := i.fetches.Load(); n > 6 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

// Once the keys are known, tokens are accepted while the issuer is down. Before that they are not
// refused: the node cannot tell.
func TestTheIssuerMayBeDown(t *testing.T) {
	i := newIssuer(t)
	i.down.Store(true)
	v := i.verifier()
	if _, err := v.Principal(t.Context(), sign(t, jose.ES256, i.ec, "e", i.claims())); agent.CodeOf(err) != agent.CodeUnavailable {
		t.Fatal(err)
	}
	i.down.Store(false)
	if _, err := v.Principal(t.Context(), sign(t, jose.ES256, i.ec, "e", i.claims())); err != nil {
		t.Fatal(err)
	}
	i.down.Store(true)
	claims := i.claims()
	claims["sub"] = "later"
	if p, err := v.Principal(t.Context(), sign(t, jose.ES256, i.ec, "e", claims)); err != nil || p.Name != "oidc:later" {
		t.Error(p, err)
	}
	i.Close()
	claims["sub"] = "still later"
	if _, err := v.Principal(t.Context(), sign(t, jose.RS256, i.rsa, "r", claims)); err != nil {
		t.Error(err)
	}
}

// silentIssuer is the network to an issuer that does not answer.
type silentIssuer struct{ asked atomic.Int32 }

func (s *silentIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Callers do not wait for each other while the issuer is silent.
func TestASilentIssuerDelaysNoCallerLongerThanOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &silentIssuer{}
		v := oidc.New(oidc.Options{Issuer: "https://issuer", Audience: "a", Algorithms: []string{"RS256"}, Claim: "sub", Transport: network})
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() {
				began := time.Now()
				_, err := v.Principal(t.Context(), "x.y.z")
				if took := time.Since(began); agent.CodeOf(err) != agent.CodeUnavailable || took != 5*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
			})
		}
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := v.Principal(hasty, "x.y.z"); agent.CodeOf(err) != agent.CodeUnavailable || time.Since(began) != time.Second {
			t.Errorf("a caller with a timeout of 1 s: %v after %v", err, time.Since(began))
		}
		callers.Wait()
		if n := network.asked.Load(); n != 1 {
			t.Errorf("the issuer was asked %d times", n)
		}
	})
}

// A token that was accepted is refused once it has expired, also if it is still remembered.
func TestAnAcceptedTokenExpires(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	claims := i.claims()
	expiry := time.Unix(time.Now().Unix()+2, 0)
	claims["exp"] = expiry.Unix()
	text := sign(t, jose.ES256, i.ec, "e", claims)
	if _, err := v.Principal(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(expiry) + 10*time.Millisecond)
	if p, err := v.Principal(t.Context(), text); agent.CodeOf(err) != agent.CodeUnauthenticated {
		t.Error(p, err)
	}
}
