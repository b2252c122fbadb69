package node_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/client"
	"dormouse/config"
	"dormouse/node/nodetest"
)

// client returns the TLS configuration of a client with a certificate of an authority, changed by edit. It trusts servers.
func (a *authority) client(servers *authority, edit func(*x509.Certificate)) *tls.Config {
	a.t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(servers.cert)
	if edit == nil {
		return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool}
	}
	key := a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	edit(template)
	pair := tls.Certificate{Certificate: [][]byte{a.sign(template, a.cert, &key.PublicKey).Raw}, PrivateKey: key}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool, Certificates: []tls.Certificate{pair}}
}

// callers are the two APIs of a node, as a client with some credentials calls them.
type callers struct {
	n     *nodetest.Node
	token string
	tls   *tls.Config
}

// do puts or gets a value over HTTP and gRPC, and returns the codes: the same for both, or a failure.
func (c callers) do(t *testing.T, write bool, scope string) string {
	t.Helper()
	method, body := http.MethodGet, ""
	if write {
		method, body = http.MethodPut, "v"
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+c.n.HTTPAddr()+"/v1/values/k?scope="+scope, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if write {
		r.URL.RawQuery = ""
		r.Header.Set("Dormouse-Scope", scope)
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	overHTTP := "failed"
	if answer, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: c.tls.Clone()}}).Do(r); err == nil {
		raw, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		var problem struct{ Code string }
		_ = json.Unmarshal(raw, &problem)
		if overHTTP = problem.Code; answer.StatusCode < 300 || overHTTP == "not_found" {
			overHTTP = ""
		}
	}
	conn, err := client.Dial(client.Options{Endpoints: []string{c.n.GRPCAddr()}, Fixed: true, TLS: c.tls.Clone(), Token: c.token})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // of a test
	overGRPC := ""
	if write {
		_, err = conn.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}})
	} else {
		var answers agent.Answers
		if answers, err = conn.Read(t.Context(), agent.Reads{Scope: scope, Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); err == nil && answers.Answers[0].Err != nil && answers.Answers[0].Err.Code != agent.CodeNotFound {
			err = answers.Answers[0].Err
		}
	}
	if err != nil {
		overGRPC = string(agent.CodeOf(err))
	}
	if overHTTP != overGRPC {
		t.Errorf("HTTP says %q, gRPC says %q (%v)", overHTTP, overGRPC, err)
	}
	return overHTTP
}

func uri(text string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		u, err := url.Parse(text)
		if err != nil {
			panic(err)
		}
		c.URIs = []*url.URL{u}
	}
}

// A client certificate of the configured authority is a principal with the grants of its rule, over both APIs.
// Certificates of others are not, and a token counts before a certificate.
func TestAClientCertificateIsAPrincipal(t *testing.T) {
	servers, clients := newAuthority(t), newAuthority(t)
	certFile, keyFile := servers.issue("node")
	grants := func(verbs ...string) []config.Grant {
		return []config.Grant{{Scopes: []string{"team-*"}, Verbs: verbs}}
	}
	n := nodetest.StartWith(t, nodetest.Options{
		Loopback: true, TLSDir: t.TempDir(), Auth: true, Client: client.Options{TLS: clients.client(servers, nil)},
		Configure: func(c *config.Config) {
			c.HTTP.CertFile, c.HTTP.KeyFile, c.GRPC.CertFile, c.GRPC.KeyFile = certFile, keyFile, certFile, keyFile
			c.Auth.CertificateCAFile = filepath.Join(clients.dir, "ca.pem")
			c.Auth.CertificateRules = []config.CertificateRule{
				{URI: "spiffe://example.org/writers/*", Grants: grants("read", "write")},
				{DNS: "reader.example.org", Principal: "reader", Grants: grants("read")},
				{Email: "anna@example.org", Principal: "anna", Grants: grants("read", "write")},
				{CN: "backup", Principal: "backup", Grants: []config.Grant{{Verbs: []string{"cluster:backup"}}}},
			}
		},
	})
	named := func(edit func(*x509.Certificate)) callers { return callers{n: n, tls: clients.client(servers, edit)} }
	for name, c := range map[string]struct {
		callers
		write, read string
	}{
		"a URI with the prefix":       {named(uri("spiffe://example.org/writers/w1")), "", ""},
		"another URI":                 {named(uri("spiffe://example.org/writer")), "unauthenticated", "unauthenticated"},
		"a DNS name":                  {named(func(c *x509.Certificate) { c.DNSNames = []string{"other.example.org", "reader.example.org"} }), "forbidden", ""},
		"a DNS name with a prefix":    {named(func(c *x509.Certificate) { c.DNSNames = []string{"reader.example.org.evil"} }), "unauthenticated", "unauthenticated"},
		"an email address":            {named(func(c *x509.Certificate) { c.EmailAddresses = []string{"anna@example.org"} }), "", ""},
		"a common name":               {named(func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: "backup"} }), "forbidden", "forbidden"},
		"a DNS name as a common name": {named(func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: "reader.example.org"} }), "unauthenticated", "unauthenticated"},
		"no certificate":              {named(nil), "unauthenticated", "unauthenticated"},
		"the root token besides":      {callers{n: n, token: n.RootToken(), tls: clients.client(servers, uri("spiffe://example.org/nothing"))}, "", ""},
		"a wrong token besides":       {callers{n: n, token: access.NewSecret(), tls: clients.client(servers, uri("spiffe://example.org/writers/w1"))}, "unauthenticated", "unauthenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.do(t, true, "team-a"); got != c.write {
				t.Errorf("a write: %q, want %q", got, c.write)
			}
			if got := c.do(t, false, "team-a"); got != c.read {
				t.Errorf("a read: %q, want %q", got, c.read)
			}
			if got := c.do(t, false, "other"); c.token == "" && got != "forbidden" && got != "unauthenticated" {
				t.Errorf("a read of another scope: %q", got)
			}
		})
	}
	// A certificate of the servers' authority ends the handshake: it is no credential.
	stranger := callers{n: n, tls: servers.client(servers, uri("spiffe://example.org/writers/w1"))}
	if got := stranger.doHTTP(t); got != "failed" {
		t.Errorf("a certificate of another authority: %q", got)
	}
	expired := named(func(c *x509.Certificate) {
		uri("spiffe://example.org/writers/w1")(c)
		c.NotAfter = time.Now().Add(-time.Minute)
	})
	if got := expired.doHTTP(t); got != "failed" {
		t.Errorf("an expired certificate: %q", got)
	}
}

// doHTTP reads a value over HTTP alone, with both versions, which have one answer.
func (c callers) doHTTP(t *testing.T) (status string) {
	t.Helper()
	for version := 1; version <= 2; version++ {
		client := http.Client{Transport: &http.Transport{TLSClientConfig: c.tls.Clone(), ForceAttemptHTTP2: version == 2}}
		answer, err := client.Get("https://" + c.n.HTTPAddr() + "/v1/values/k?scope=team-a")
		got := "failed"
		if err == nil {
			_ = answer.Body.Close()
			got = answer.Status
			if answer.ProtoMajor != version {
				t.Errorf("HTTP/%d was answered with %s", version, answer.Proto)
			}
		}
		if version > 1 && got != status {
			t.Errorf("HTTP/1.1 gave %q, HTTP/2 %q", status, got)
		}
		status = got
	}
	return status
}

// A token of the configured issuer is a principal over both APIs, from a real issuer.
func TestATokenOfAnIssuerIsAPrincipal(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
			return
		}
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, issuer.URL, issuer.URL+"/keys")
	}))
	defer issuer.Close()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token := func(audience, group string, expiry time.Time) string {
		payload, err := json.Marshal(map[string]any{"iss": issuer.URL, "aud": audience, "sub": "anna", "exp": expiry.Unix(), "groups": []string{group}})
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
	servers := newAuthority(t)
	certFile, keyFile := servers.issue("node")
	n := nodetest.StartWith(t, nodetest.Options{
		Loopback: true, TLSDir: t.TempDir(), Auth: true, Client: client.Options{TLS: servers.client(servers, nil)},
		Configure: func(c *config.Config) {
			c.HTTP.CertFile, c.HTTP.KeyFile, c.GRPC.CertFile, c.GRPC.KeyFile = certFile, keyFile, certFile, keyFile
			c.Auth.OIDCIssuer, c.Auth.OIDCAudience = issuer.URL, "dormouse"
			c.Auth.OIDCRules = []config.OIDCRule{{Claim: "groups", Value: "writers", Grants: []config.Grant{{Scopes: []string{"s"}, Verbs: []string{"read", "write"}}}}}
		},
	})
	later := time.Now().Add(time.Hour)
	for name, c := range map[string]struct{ token, code string }{
		"a writer":         {token("dormouse", "writers", later), ""},
		"another group":    {token("dormouse", "readers", later), "forbidden"},
		"another audience": {token("other", "writers", later), "unauthenticated"},
		"expired":          {token("dormouse", "writers", time.Now().Add(-time.Minute)), "unauthenticated"},
		"the root token":   {n.RootToken(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			who := callers{n: n, token: c.token, tls: servers.client(servers, nil)}
			if got := who.do(t, true, "s"); got != c.code {
				t.Errorf("a write: %q, want %q", got, c.code)
			}
		})
	}
	// A stream that was opened with a token of the issuer ends with the token.
	short := time.Unix(time.Now().Unix()+3, 0)
	conn, err := client.Dial(client.Options{Endpoints: []string{n.GRPCAddr()}, Fixed: true, TLS: servers.client(servers, nil), Token: token("dormouse", "writers", short)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // of a test
	put := agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}
	if _, err := conn.Commit(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(short) + 10*time.Millisecond)
	if _, err := conn.Commit(t.Context(), put); agent.CodeOf(err) != agent.CodeUnauthenticated {
		t.Errorf("a commit after the token expired: %v", err)
	}
}
