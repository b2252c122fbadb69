package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"

	"dormouse/client"
	"dormouse/internal/cli"
)

// The environment variables behind --ca, --cert and --key.
const (
	caEnv   = client.EnvCA
	certEnv = client.EnvCert
	keyEnv  = client.EnvKey
	// clusterIDEnv is the environment variable behind --cluster-id.
	clusterIDEnv = client.EnvClusterID
)

// target is whom to dial, and how.
type target struct {
	endpoints []string
	fixed     bool        // stay with these; otherwise they tell of the rest of the cluster
	tls       *tls.Config // nil means in the clear
	cluster   string      // id of the cluster; "" means that of the first node that answers
}

// dialClient reaches a cluster over gRPC.
func dialClient(t target) (store, error) {
	return client.Dial(client.Options{Endpoints: t.endpoints, Fixed: t.fixed, TLS: t.tls, ClusterID: t.cluster})
}

// open dials endpoints as the flags say.
func (a *app) open(endpoints []string, fixed bool) (store, error) {
	secure, err := a.tlsConfig()
	if err != nil {
		return nil, err
	}
	return a.dial(target{endpoints: endpoints, fixed: fixed, tls: secure, cluster: a.clusterID})
}

// tlsConfig is what --ca, --cert and --key come to; nil where none is given.
func (a *app) tlsConfig() (*tls.Config, error) {
	switch {
	case (a.cert == "") != (a.key == ""):
		return nil, cli.Usagef("--cert and --key go together: give both or neither")
	case a.ca == "" && a.cert == "":
		return nil, nil //nolint:nilnil // no TLS is an answer
	case a.ca == "":
		return nil, cli.Usagef("--cert asks for TLS: name with --ca whose certificates the nodes have")
	}
	pem, err := os.ReadFile(a.ca)
	if err != nil {
		return nil, cli.Usagef("--ca: %w", err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: x509.NewCertPool()}
	if !t.RootCAs.AppendCertsFromPEM(pem) {
		return nil, cli.Usagef("--ca: %s holds no certificate", a.ca)
	}
	if a.cert != "" {
		pair, err := tls.LoadX509KeyPair(a.cert, a.key)
		if err != nil {
			return nil, cli.Usagef("--cert and --key: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
