package redis_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/server/redis"
)

// auditor counts what it is told by method.
type auditor struct {
	mu     sync.Mutex
	denied map[string]int // guarded by mu
}

func (a *auditor) Denied(ctx context.Context, _ access.Subject, _ error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied[access.CallOf(ctx).Method]++
}

// A client whose certificate matches a rule needs no AUTH; another needs a token. Refusals are
// recorded.
func TestACertificateAuthenticates(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ann"}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(own)
	pair := tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: private}
	for name, want := range map[string]string{"ann": "nil", "bob": "-NOAUTH"} {
		audit := &auditor{denied: map[string]int{}}
		rules := []access.CertificateRule{{Name: access.NameCN, Pattern: name, Grants: []agent.Grant{{Scopes: []string{"default"}, Verbs: []agent.Verb{"read"}}}}}
		auth := access.NewAuthenticator(access.Options{Store: tokenStore{}, Certificates: access.NewCertificates([]*x509.Certificate{own}, rules)})
		s, err := redis.New(access.NewGuard(memstore.New(), &tokens{live: true}), redis.Options{Auth: auth, Audit: audit})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = s.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven}))
		}() // ends with Shutdown
		connection, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: pool, ServerName: "localhost", Certificates: []tls.Certificate{pair}})
		if err != nil {
			t.Fatal(err)
		}
		c := over(t, connection)
		for _, command := range []string{"GET k", "RESET", "GET k"} {
			if got := c.do(command); command == "GET k" && !strings.HasPrefix(got, want) {
				t.Errorf("%s with the certificate of ann, where %s may read: %s", command, name, got)
			}
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if got := audit.denied["redis/command"]; (name == "bob") != (got == 2) {
			t.Errorf("%d refusals are recorded", got)
		}
	}
}
