package nodetest

import (
	"crypto/tls"
	"path/filepath"

	"dormouse/cluster/keys"
	"dormouse/config"
)

// serveTLS makes the node serve HTTP and gRPC with a certificate of its own authority, whose files
// are in dir. It returns the configuration of clients.
func serveTLS(c *config.Config, dir string) (*tls.Config, error) {
	authority, err := keys.New().Authority()
	if err != nil {
		return nil, err
	}
	cert, err := authority.Issuer(name, "127.0.0.1").Certificate()
	if err != nil {
		return nil, err
	}
	certFile, keyFile := filepath.Join(dir, "node.pem"), filepath.Join(dir, "node.key")
	if err := keys.WriteCertificate(certFile, keyFile, cert); err != nil {
		return nil, err
	}
	c.HTTP.CertFile, c.HTTP.KeyFile = certFile, keyFile
	c.Redis.CertFile, c.Redis.KeyFile = certFile, keyFile
	c.GRPC.CertFile, c.GRPC.KeyFile = certFile, keyFile
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: authority.Pool()}, nil
}
