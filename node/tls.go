package node

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	"dormouse/config"
)

// reloadEvery is the time between two looks at the files of a certificate.
const reloadEvery = 10 * time.Second

// serverTLS returns the TLS configuration of a server for clients; nil means no TLS.
// Without files, the certificate is one of the cluster's own authority.
func (s *secrets) serverTLS(l config.Listen) (*tls.Config, error) {
	if !s.config.Issued(l) {
		return s.filesTLS(l)
	}
	// The names of loopback are for dormctl on the node's own machine.
	names := append([]string{hostOf(l.Addr), hostOf(l.Advertise), "localhost", "127.0.0.1", "::1"}, s.config.HTTP.Hosts...)
	issuer := s.authorities[0].Issuer(s.config.Node.ID, names...)
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return issuer.Certificate() },
	}, nil
}

// raftNetwork returns the network between nodes, and the pool that verifies the
// certificates of nodes if the network does not.
func (s *secrets) raftNetwork() (transport.Network, *x509.CertPool, error) {
	l := s.config.Raft.Listen()
	switch {
	case s.network != nil:
		return s.network, nil, nil
	case !s.config.Issued(l):
		t, err := s.filesTLS(l)
		return transport.TCP{Config: t}, nil, err
	}
	issuer := s.authorities[0].Issuer(s.config.Node.ID, hostOf(l.Addr), hostOf(l.Advertise))
	return transport.TCP{Config: &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return issuer.Certificate() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return issuer.Certificate() },
		// A host has no certificate of the authority. The handshake of package transport
		// verifies both sides, bound to this connection, and the certificates of nodes.
		ClientAuth: tls.RequestClientCert, InsecureSkipVerify: true,
	}}, keys.PoolOf(s.authorities), nil
}

// enrolNetwork returns the network for a node that has no cluster key yet. The join
// token proves both sides.
func (s *secrets) enrolNetwork() (transport.Network, error) {
	l := s.config.Raft.Listen()
	switch {
	case s.network != nil:
		return s.network, nil
	case !s.config.Issued(l):
		t, err := s.filesTLS(l)
		return transport.TCP{Config: t}, err
	}
	return transport.TCP{Config: &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}}, nil
}

// hostOf returns the host of an address, or "".
func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	return host
}

// filesTLS returns the TLS configuration of l, for the server and for dialing peers; nil means no
// TLS.
func (s *secrets) filesTLS(l config.Listen) (*tls.Config, error) {
	if !l.TLS() {
		return nil, nil //nolint:nilnil // no TLS is an answer
	}
	files := &certFiles{cert: l.CertFile, key: l.KeyFile, logger: s.logger}
	if _, err := files.get(); err != nil {
		return nil, fmt.Errorf("load the certificate for %s: %w", l.Addr, err)
	}
	t := &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return files.get() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return files.get() },
	}
	if l.CAFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(l.CAFile)
	if err != nil {
		return nil, fmt.Errorf("load the CA for %s: %w", l.Addr, err)
	}
	t.ClientCAs = x509.NewCertPool()
	if !t.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", l.CAFile)
	}
	t.RootCAs, t.ClientAuth = t.ClientCAs, tls.RequireAndVerifyClientCert
	return t, nil
}

// certFiles is a certificate in files. A replaced certificate is used within
// reloadEvery, without a restart.
type certFiles struct {
	cert, key string
	logger    hclog.Logger

	mu      sync.Mutex
	current *tls.Certificate // guarded by mu, as the fields below
	looked  time.Time
	loaded  [2][]byte // the files' contents of current
	failed  string    // why the last look found no certificate, or ""
}

// get returns the certificate. If the files cannot be read any more, it returns the
// last one that could, and logs why once.
func (f *certFiles) get() (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil && time.Since(f.looked) < reloadEvery {
		return f.current, nil
	}
	f.looked = time.Now()
	err := f.load()
	if err != nil && f.current == nil {
		return nil, err
	}
	f.report(err)
	return f.current, nil
}

// report logs that the certificate cannot be loaded, and that it can be again.
// Callers hold mu.
func (f *certFiles) report(err error) {
	switch {
	case err == nil && f.failed == "":
	case err == nil:
		f.failed = ""
		f.logger.Info("the certificate can be loaded again", "cert", f.cert, "key", f.key)
	case err.Error() != f.failed:
		f.failed = err.Error()
		f.logger.Warn("cannot load the replaced certificate: the last good one stays in use until it ends",
			"cert", f.cert, "key", f.key, "error", err, "ends", f.current.Leaf.NotAfter)
	}
}

// load reads the files. It compares their contents, because a file may be replaced by one that is not newer.
// Callers hold mu.
func (f *certFiles) load() error {
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(f.key)
	if err != nil {
		return err
	}
	if f.current != nil && bytes.Equal(cert, f.loaded[0]) && bytes.Equal(key, f.loaded[1]) {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	f.current, f.loaded = &pair, [2][]byte{cert, key}
	return nil
}
