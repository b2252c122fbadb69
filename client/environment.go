package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
)

// The environment variables that Dial and dormctl read if the options name no endpoints.
const (
	EnvEndpoints = "DORMOUSE_ENDPOINTS"  // gRPC addresses of nodes, comma-separated
	EnvCA        = "DORMOUSE_CA"         // PEM file of the CA that signed the nodes' certificates; enables TLS
	EnvCert      = "DORMOUSE_CERT"       // PEM file of this client's certificate, if nodes require one
	EnvKey       = "DORMOUSE_KEY"        // PEM file of the key of EnvCert
	EnvClusterID = "DORMOUSE_CLUSTER_ID" // id of the cluster: nodes of other clusters are refused from the first call on
	EnvToken     = "DORMOUSE_TOKEN"      // the secret of a token
	EnvTokenFile = "DORMOUSE_TOKEN_FILE" // file that holds that secret; read if EnvToken is not set
)

// fromEnvironment fills in endpoints, TLS, cluster and token from the environment, if
// the options name no endpoints.
func (o Options) fromEnvironment() (Options, error) {
	if len(o.Endpoints) > 0 {
		return o, nil
	}
	if o.ClusterID == "" {
		o.ClusterID = os.Getenv(EnvClusterID)
	}
	for endpoint := range strings.SplitSeq(os.Getenv(EnvEndpoints), ",") {
		if endpoint = strings.TrimSpace(endpoint); endpoint != "" {
			o.Endpoints = append(o.Endpoints, endpoint)
		}
	}
	var err error
	if o.Token == "" {
		if o.Token, err = TokenFromEnvironment(); err != nil {
			return o, err
		}
	}
	if o.TLS != nil {
		return o, nil
	}
	o.TLS, err = TLSFromEnvironment()
	return o, err
}

// TLSFromEnvironment returns the TLS configuration of EnvCA, EnvCert and EnvKey, or nil
// if none is set. It returns an error if a file cannot be read or holds no certificate,
// if only one of EnvCert and EnvKey is set, or if EnvCA is missing.
func TLSFromEnvironment() (*tls.Config, error) {
	return tlsOf(os.Getenv(EnvCA), os.Getenv(EnvCert), os.Getenv(EnvKey))
}

// tlsOf returns the TLS configuration of three PEM files, or nil if none is named.
func tlsOf(ca, cert, key string) (*tls.Config, error) {
	switch {
	case ca == "" && cert == "" && key == "":
		return nil, nil //nolint:nilnil // no TLS is an answer
	case (cert == "") != (key == ""):
		return nil, fmt.Errorf("%s and %s go together: set both or neither", EnvCert, EnvKey)
	case ca == "":
		return nil, fmt.Errorf("%s needs %s: set it to the authority that signed the nodes' certificates", EnvCert, EnvCA)
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", EnvCA, err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: x509.NewCertPool()}
	if !t.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s holds no certificate", EnvCA, ca)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", EnvCert, EnvKey, err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
