package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/cmd/dormctl/kit"
)

// handshake connects a client to a server over TLS, and returns the first error of
// either side.
func handshake(t *testing.T, server, client *tls.Config) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			served <- err
			return
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		served <- tls.Server(conn, server).HandshakeContext(t.Context())
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	err = tls.Client(conn, client).HandshakeContext(t.Context())
	if err := <-served; err != nil {
		return err
	}
	return err
}

func TestCertificatesOfACluster(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	c := newConsole()
	made := func(args ...string) {
		t.Helper()
		if out, errs, code := c.run("", append([]string{"certs"}, append(args, "--dir", dir)...)...); code != kit.ExitOK {
			t.Fatalf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if _, errs, code := c.run("", append([]string{"certs"}, append(args, "--dir", dir)...)...); code != kit.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	refused("run dormctl certs init first", "node", "n1", "--san", "127.0.0.1")
	made("init")
	made("node", "n1", "--san", "127.0.0.1", "--san", "n1.example.com")
	made("client", "alice")
	refused("already exists in "+dir, "init")
	refused("already", "client", "alice")
	refused("needs --san", "node", "n2")
	refused("for a certificate", "client", "../eve")
	refused("--days is 0", "client", "bob", "--days", "0")
	refused("takes no arguments", "init", "n1")
	refused("takes NAME", "node", "--san", "127.0.0.1")
	refused("takes NAME", "client")

	for _, secret := range []string{"ca.key", "n1.key", "alice.key", "cluster.key"} {
		if info, err := os.Stat(filepath.Join(dir, secret)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", secret, info.Mode(), err)
		}
	}
	pair := func(name string) []tls.Certificate {
		t.Helper()
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return []tls.Certificate{pair}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		t.Fatal("ca.pem holds no certificate")
	}
	server := &tls.Config{Certificates: pair("n1"), ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
	for _, name := range []string{"127.0.0.1", "n1.example.com"} {
		if err := handshake(t, server, &tls.Config{RootCAs: pool, ServerName: name, Certificates: pair("alice"), MinVersion: tls.VersionTLS13}); err != nil {
			t.Errorf("a client of %s: %v", name, err)
		}
	}
	if err := handshake(t, server, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", Certificates: pair("n1"), MinVersion: tls.VersionTLS13}); err != nil {
		t.Errorf("a node as client: %v", err)
	}
	if err := handshake(t, server, &tls.Config{RootCAs: pool, ServerName: "n2.example.com", Certificates: pair("alice"), MinVersion: tls.VersionTLS13}); err == nil {
		t.Error("a name that is not in the certificate was taken")
	}
	client := &tls.Config{Certificates: pair("alice"), ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}
	if err := handshake(t, client, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", Certificates: pair("alice"), MinVersion: tls.VersionTLS13}); err == nil {
		t.Error("a client's certificate served")
	}
}
