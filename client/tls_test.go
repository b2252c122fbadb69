package client_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/credentials"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// A server with a certificate accepts clients that trust it, and no client without
// TLS.
func TestTLSIsUsedIfConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		certificate, roots := selfSigned(t, "a")
		w.serveWith("a", f, f, grpcfront.Options{Credentials: credentials.NewServerTLSFromCert(&certificate)})
		question := agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}
		for _, c := range []struct {
			speaks string
			tls    *tls.Config
			served bool
		}{
			{"TLS, and trusts it", &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, true},
			{"TLS without trusted authorities", &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}, false},
			{"in the clear", nil, false},
		} {
			asker := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true, Timeout: time.Second, TLS: c.tls})
			if _, err := asker.Read(t.Context(), question); (err == nil) != c.served {
				t.Errorf("client with %s: %v", c.speaks, err)
			}
		}
	})
}

// selfSigned returns a certificate for one name, and a pool that trusts it.
func selfSigned(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, roots
}
