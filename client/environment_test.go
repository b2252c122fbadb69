package client_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/credentials"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

func TestEmptyOptionsComeFromTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	certificate, _ := selfSigned(t, "a")
	ca, certFile, keyFile := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		ca:       {Type: "CERTIFICATE", Bytes: certificate.Certificate[0]},
		certFile: {Type: "CERTIFICATE", Bytes: certificate.Certificate[0]},
		keyFile:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(client.EnvEndpoints, " a ,")
	t.Setenv(client.EnvCA, ca)
	t.Setenv(client.EnvCert, certFile)
	t.Setenv(client.EnvKey, keyFile)
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		w.serveWith("a", f, f, grpcfront.Options{Credentials: credentials.NewServerTLSFromCert(&certificate)})
		question := agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}
		if _, err := w.client(client.Options{Fixed: true, Timeout: time.Second}).Read(t.Context(), question); err != nil {
			t.Errorf("by the environment: %v", err)
		}
		// With endpoints in the options, the environment's TLS does not apply.
		if _, err := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true, Timeout: time.Second}).Read(t.Context(), question); err == nil {
			t.Error("endpoints of the program's own are reached with the TLS of the environment")
		}
	})
}

func TestAnEnvironmentThatDoesNotFitIsRefused(t *testing.T) {
	for _, c := range []struct{ ca, cert, key, says string }{
		{"", "x", "", "go together"},
		{"", "x", "y", client.EnvCA},
		{"/none", "", "", client.EnvCA},
		{os.DevNull, "", "", "no certificate"},
	} {
		t.Setenv(client.EnvCA, c.ca)
		t.Setenv(client.EnvCert, c.cert)
		t.Setenv(client.EnvKey, c.key)
		if _, err := client.Dial(client.Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestAnEndpointIsHostAndPort(t *testing.T) {
	for _, endpoint := range []string{"localhost", "http://127.0.0.1:7600", ""} {
		if _, err := client.Dial(client.Options{Endpoints: []string{endpoint}}); err == nil || !strings.Contains(err.Error(), "host:port") {
			t.Errorf("%q: %v, want an error that says host:port", endpoint, err)
		}
	}
}
