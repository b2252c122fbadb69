package nodetest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
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
	secret, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return nil, err
	}
	certFile, keyFile := filepath.Join(dir, "node.pem"), filepath.Join(dir, "node.key")
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := keys.WriteFile(path, string(pem.EncodeToMemory(block))); err != nil {
			return nil, err
		}
	}
	c.HTTP.CertFile, c.HTTP.KeyFile = certFile, keyFile
	c.GRPC.CertFile, c.GRPC.KeyFile = certFile, keyFile
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: authority.Pool()}, nil
}
