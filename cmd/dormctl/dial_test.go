package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"dormouse/cmd/dormctl/kit"
)

// certificate writes a self-signed certificate and its key.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	inPEM := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return write(t, "cert.pem", inPEM("CERTIFICATE", cert)), write(t, "key.pem", inPEM("PRIVATE KEY", der))
}

func TestNodesWithCertificatesAreDialledOverTLS(t *testing.T) {
	cert, key := certificate(t)
	c := newConsole()
	c.run("", "status", "--ca", cert)
	c.run("", "status", "--ca", cert, "--cert", cert, "--key", key)
	c.env["DORMOUSE_CA"] = cert
	c.run("", "status")
	const plain = "127.0.0.1:7601 fixed=false tls certificates="
	want := plain + "0|" + plain + "1|" + plain + "0"
	if got := strings.Join(c.dialled, "|"); got != want {
		t.Errorf("dialled %s, want %s", got, want)
	}
}

func TestWrongFilesForTLSAreUsage(t *testing.T) {
	cert, key := certificate(t)
	for _, c := range []struct {
		args, says string
	}{
		{"--cert " + cert, "go together"},
		{"--key " + key, "go together"},
		{"--cert " + cert + " --key " + key, "--cert needs --ca"},
		{"--ca /no/such/file", "no such file"},
		{"--ca " + key, "holds no certificate"},
		{"--ca " + cert + " --cert " + key + " --key " + key, "--cert and --key"},
	} {
		console := newConsole()
		_, errs, code := console.run("", append([]string{"status"}, strings.Fields(c.args)...)...)
		if code != kit.ExitUsage || !strings.Contains(errs, c.says) || len(console.dialled) != 0 {
			t.Errorf("%s: exit %d, %s", c.args, code, errs)
		}
	}
}
