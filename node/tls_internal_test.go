package node

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	"dormouse/config"
)

// A replaced certificate is used whatever the times of its files are: it may come from a backup, or be written within
// the granule of the file system's clock.
func TestAReplacedCertificateIsUsedWhateverItsTime(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	f := &certFiles{logger: hclog.New(&hclog.LoggerOptions{Output: &log}), cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	same := time.Now().Truncate(time.Second)
	serial := func() int64 {
		t.Helper()
		f.looked = time.Time{} // as after reloadEvery
		got, err := f.get()
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.SerialNumber.Int64()
	}
	for n, at := range []time.Time{same, same, same.Add(-time.Hour)} {
		writePair(t, f, int64(n+1), at)
		if got := serial(); got != int64(n+1) {
			t.Errorf("the certificate %d is served after %d was written", got, n+1)
		}
	}
	if err := os.WriteFile(f.cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := serial(); got != 3 {
			t.Errorf("the certificate %d is served while the files cannot be read", got)
		}
	}
	if n := strings.Count(log.String(), "cannot load"); n != 1 {
		t.Errorf("%d warnings of files that cannot be read, want 1:\n%s", n, &log)
	}
	writePair(t, f, 4, same)
	if got := serial(); got != 4 {
		t.Errorf("the certificate %d is served after 4 was written", got)
	}
	if !strings.Contains(log.String(), "can be loaded again") {
		t.Errorf("the log does not tell that the certificate can be loaded again:\n%s", &log)
	}
}

func writePair(t *testing.T, f *certFiles, serial int64, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: at.Add(24 * time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{f.cert: {Type: "CERTIFICATE", Bytes: cert}, f.key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// While the cluster key is replaced, node by node, the nodes trust the certificates of each other, and clients
// with the authorities of any node trust all of them.
func TestCertificatesAreTrustedWhileTheClusterKeyIsReplaced(t *testing.T) {
	before, after := keys.New(), keys.New()
	for _, step := range [][2]keys.Ring{
		{{before}, {before, after}}, {{before, after}, {after, before}}, {{after, before}, {after}},
	} {
		nodes := [2]*issuing{issues(t, "n1", step[0]), issues(t, "n2", step[1])}
		for i, n := range nodes {
			other := nodes[1-i]
			if _, err := other.raft.Verify(x509.VerifyOptions{Roots: n.roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
				t.Errorf("a node with %v and one with %v: %v", step[i], step[1-i], err)
			}
			if _, err := other.http.Verify(x509.VerifyOptions{Roots: n.clients, DNSName: "localhost"}); err != nil {
				t.Errorf("a client of a node with %v at one with %v: %v", step[i], step[1-i], err)
			}
		}
	}
}

// issuing has what a node issues and trusts.
type issuing struct {
	raft, http     *x509.Certificate
	roots, clients *x509.CertPool
}

func issues(t *testing.T, name string, ring keys.Ring) *issuing {
	t.Helper()
	c := config.Default()
	c.Node.ID, c.Node.DataDir, c.Raft.Addr, c.Raft.Advertise, c.HTTP.Addr = name, t.TempDir(), "10.0.0.1:7602", "10.0.0.1:7602", "10.0.0.1:7600"
	s, err := openSecrets(t.Context(), Options{Config: c, Keys: ring}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	network, roots, err := s.raftNetwork()
	if err != nil {
		t.Fatal(err)
	}
	served, err := s.serverTLS(c.HTTP.Listen())
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(t *testing.T, from *tls.Config) *x509.Certificate {
		t.Helper()
		cert, err := from.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return cert.Leaf
	}
	pem, err := os.ReadFile(filepath.Join(c.Node.DataDir, authorityFile))
	if err != nil {
		t.Fatal(err)
	}
	tcp, ok := network.(transport.TCP)
	clients := x509.NewCertPool()
	if !ok || !clients.AppendCertsFromPEM(pem) {
		t.Fatalf("the network is %T, and %s has %d bytes", network, authorityFile, len(pem))
	}
	return &issuing{raft: leaf(t, tcp.Config), http: leaf(t, served), roots: roots, clients: clients}
}
