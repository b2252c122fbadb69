package node_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/config"
	"dormouse/host"
	"dormouse/instance"
	"dormouse/node"
)

// authority signs certificates for this machine, as a cluster's own CA does.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = a.newKey()
	a.cert = a.sign(template, template, &a.key.PublicKey)
	a.write("ca.pem", "CERTIFICATE", a.cert.Raw)
	return a
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

func (a *authority) sign(template, parent *x509.Certificate, public *ecdsa.PublicKey) *x509.Certificate {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

func (a *authority) write(name, kind string, der []byte) string {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// issue writes a certificate and its key, for both ends of a connection.
func (a *authority) issue(name string) (certFile, keyFile string) {
	a.t.Helper()
	key := a.newKey()
	cert := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, &key.PublicKey)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(name+".pem", "CERTIFICATE", cert.Raw), a.write(name+".key", "PRIVATE KEY", der)
}

// peers returns the TLS configuration of a host: it trusts this authority, and has a certificate of
// it.
func (a *authority) peers(name string) *tls.Config {
	a.t.Helper()
	pair, err := tls.LoadX509KeyPair(a.issue(name))
	if err != nil {
		a.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

// A host joins nodes that require certificates with one of the same authority, and is reached with
// it. Without one, or with one of another authority, it reaches no node.
func TestAHostJoinsOverTLS(t *testing.T) {
	ours := newAuthority(t)
	c := config.Default()
	c.Auth.Mode = config.AuthOff
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = "n1", true, true, true
	c.HTTP.Addr, c.GRPC.Addr, c.Raft.Addr, c.Gossip.Addr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c.Raft.CertFile, c.Raft.KeyFile = ours.issue("n1")
	c.Raft.CAFile = filepath.Join(ours.dir, "ca.pem")
	n, err := node.Open(t.Context(), node.Options{Config: c, Alone: true, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	life, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(life) }()
	_, grpcAddr := n.Addrs()
	open := func(ctx context.Context, peers *tls.Config) (*host.Host, error) {
		return host.Open(ctx, host.Options{
			Name: "h1", Join: []string{n.Group().Addr()}, Key: n.HostKey(), TLS: peers, LeaseTTL: time.Second,
			Instance: instance.Options{Handlers: recordingHandlers("tally", 1)}, Client: client.Options{Endpoints: []string{grpcAddr}, Fixed: true},
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, err := open(ctx, ours.peers("h1"))
	if err != nil {
		t.Fatal(err)
	}
	hosting, leave := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { left <- h.Run(hosting) }()
	put := &agent.PutManager{Manager: agent.Manager{Name: "tallies", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "tally"}, Untracked: true}}
	if _, err := h.Service().Commit(ctx, agent.Commit{Ops: []agent.Op{put}}); err != nil {
		t.Fatal(err)
	}
	ref := agent.InstanceRef{Manager: "tallies", Key: "k"}
	for { // until then the node, which has no such handler, hands its partitions over
		reply, err := n.Instances().Signal(ctx, ref, agent.Signal{Type: "count"})
		if err == nil && reply.Node == "h1" {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the host answers nothing: %+v, %v", reply, err)
		}
	}

	for who, peers := range map[string]*tls.Config{"without a certificate": nil, "with a stranger's": newAuthority(t).peers("h2")} {
		short, enough := context.WithTimeout(ctx, time.Second)
		if _, err := open(short, peers); err == nil {
			t.Errorf("a host %s joins", who)
		}
		enough()
	}
	leave()
	if err := <-left; err != nil {
		t.Error(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
