package system

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"

	"dormouse/cluster/keys"
)

// security holds the files with which nodes on loopback serve TLS and ask for tokens.
type security struct {
	dir       string
	authority *keys.Authority
	https     bool
}

// secure makes the authority and the names of the files for clients, and returns the
// flags of each node. For systems without security the result is nil.
func (s *System) secure(o Options, key keys.Key) (*security, []string, error) {
	if s.Name != DormouseSecured {
		return nil, []string{"--auth", "off"}, nil
	}
	dir := o.Dir
	authority, err := key.Authority()
	if err != nil {
		return nil, nil, fmt.Errorf("secure %s: %w", s.Name, err)
	}
	s.CAFile, s.TokenFile = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "root.token")
	if err := keys.WriteFile(s.CAFile, string(authority.PEM())); err != nil {
		return nil, nil, fmt.Errorf("secure %s: %w", s.Name, err)
	}
	if o.HTTPS {
		trust(authority.PEM())
	}
	return &security{dir, authority, o.HTTPS}, []string{"--auth", "tokens", "--root-token-file", s.TokenFile}, nil
}

// environ writes a node's certificate, and returns the node's environment: HTTP has
// TLS only with Options.HTTPS. It returns nothing for a nil security.
func (c *security) environ(node string) ([]string, error) {
	if c == nil {
		return nil, nil
	}
	cert, err := c.authority.Issuer(node, "127.0.0.1").Certificate()
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", node, err)
	}
	certFile, keyFile := filepath.Join(c.dir, node+".pem"), filepath.Join(c.dir, node+".key")
	if err := keys.WriteCertificate(certFile, keyFile, cert); err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", node, err)
	}
	environ := []string{
		"DORMOUSE_GRPC__CERT_FILE=" + certFile, "DORMOUSE_GRPC__KEY_FILE=" + keyFile,
		"DORMOUSE_RAFT__CERT_FILE=" + certFile, "DORMOUSE_RAFT__KEY_FILE=" + keyFile,
		"DORMOUSE_RAFT__CA_FILE=" + filepath.Join(c.dir, "ca.pem"),
	}
	if c.https {
		environ = append(environ, "DORMOUSE_HTTP__CERT_FILE="+certFile, "DORMOUSE_HTTP__KEY_FILE="+keyFile)
	}
	return environ, nil
}

// trust makes the default client of this process, which asks nodes for their status, trust an
// authority besides those of the machine.
func trust(pem []byte) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(pem)
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
}
