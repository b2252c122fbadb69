package access_test

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
)

// Only a chain that ends at one of the configured authorities counts, whatever else the TLS server accepts.
func TestACertificateCountsOnlyFromItsAuthority(t *testing.T) {
	ours, other := &x509.Certificate{Raw: []byte("ours")}, &x509.Certificate{Raw: []byte("other")}
	leaf := &x509.Certificate{Raw: []byte("leaf"), Subject: pkix.Name{CommonName: "root"}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"hidden\u202ename"}}
	c := access.NewCertificates([]*x509.Certificate{ours}, []access.CertificateRule{
		{Name: access.NameDNS, Pattern: "hidden*"}, // the principal's name would hide characters
		{Name: access.NameURI, Pattern: "*"},
		{Name: access.NameEmail, Pattern: "*"},
		{Name: access.NameCN, Pattern: "ro*", Grants: agent.Everything()},
		{Name: access.NameCN, Pattern: "root"},
	})
	for name, chains := range map[string][][]*x509.Certificate{
		"no chain": nil, "an empty chain": {{}}, "another authority": {{leaf, other}}, "ours in the middle": {{leaf, ours, other}},
	} {
		if p := c.Principal(chains); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	p := c.Principal([][]*x509.Certificate{{leaf, other}, {leaf, other, ours}})
	if p == nil || p.Name != "cert:root" || len(p.Grants) != 1 || p.Source != access.SourceCertificate || !p.Until.Equal(leaf.NotAfter) {
		t.Fatalf("%+v", p)
	}
}

// Calls of a principal whose credentials have expired are refused, also on a connection that is open.
func TestExpiredCredentialsEndTheCalls(t *testing.T) {
	p := &access.Principal{Name: "cert:a", Grants: agent.Everything(), Source: access.SourceCertificate, Until: time.Now().Add(-time.Second)}
	ctx := access.With(t.Context(), p)
	g := access.NewGuard(memstore.New(), live{})
	put := agent.Commit{Scope: "s", Ops: []agent.Op{&agent.PutValue{Key: "k"}}}
	get := agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetValue{Key: "k"}}}
	operator := access.NewOperator(nil, live{})
	calls := map[string]func(ctx context.Context) error{
		"commit": func(ctx context.Context) error { _, err := g.Commit(ctx, put); return err },
		"read":   func(ctx context.Context) error { _, err := g.Read(ctx, get); return err },
		"route": func(ctx context.Context) error {
			return access.OfRoute("list-audit-records").Check(access.From(ctx), "")
		},
		"status": func(ctx context.Context) error { _, err := operator.Status(ctx); return err },
		"watch": func(ctx context.Context) error {
			for _, err := range g.Watch(ctx, agent.Watch{Scope: "s", Thread: "t"}) {
				return err
			}
			return nil
		},
	}
	for name, call := range calls {
		if err := call(ctx); agent.CodeOf(err) != agent.CodeUnauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	valid := *p
	valid.Until = time.Now().Add(time.Hour)
	ctx = access.With(t.Context(), &valid)
	if err := calls["commit"](ctx); err != nil {
		t.Error(err)
	}
	if err := calls["read"](ctx); err != nil {
		t.Error(err)
	}
}

// A token counts before a client certificate, and a wrong one is not made good by the certificate.
func TestATokenCountsBeforeACertificate(t *testing.T) {
	ours := &x509.Certificate{Raw: []byte("ours")}
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "a"}, NotAfter: time.Now().Add(time.Hour)}
	secret := access.NewSecret()
	h := agent.HashToken(secret)
	s := &store{known: map[agent.TokenHash]agent.Token{h: {ID: h.TokenID(), Principal: "p"}}}
	s.late = s.known
	a := access.NewAuthenticator(access.Options{
		Store: s, Certificates: access.NewCertificates([]*x509.Certificate{ours}, []access.CertificateRule{{Name: access.NameCN, Pattern: "a"}}),
	})
	for header, want := range map[string]string{"": "cert:a", "Bearer " + secret: "p", "Bearer " + access.NewSecret(): "", "Basic x": ""} {
		p, err := a.Authenticate(t.Context(), access.Credentials{Address: "192.0.2.1:1", Header: header, Chains: [][]*x509.Certificate{{leaf, ours}}})
		if want == "" && agent.CodeOf(err) != agent.CodeUnauthenticated || want != "" && (err != nil || p.Name != want) {
			t.Errorf("%.12q: %+v, %v, want %q", header, p, err, want)
		}
	}
	if _, err := a.Authenticate(t.Context(), access.Credentials{Chains: [][]*x509.Certificate{{leaf}}}); agent.CodeOf(err) != agent.CodeUnauthenticated {
		t.Errorf("a certificate of another authority: %v", err)
	}
}
