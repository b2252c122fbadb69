package kit

import (
	"crypto/tls"
	"crypto/x509"
	"os"

	"dormouse/client"
	"dormouse/internal/cli"
)

// The environment variables behind --ca, --cert and --key.
const (
	CaEnv   = client.EnvCA
	CertEnv = client.EnvCert
	KeyEnv  = client.EnvKey
	// ClusterIDEnv is the environment variable behind --cluster-id.
	ClusterIDEnv = client.EnvClusterID
)

// EndpointsDefault is the default of --endpoints.
const EndpointsDefault = "127.0.0.1:7601"

// Target says which nodes to dial, and how.
type Target struct {
	Endpoints []string
	Fixed     bool        // use only these; otherwise the client learns the other nodes from them
	Tls       *tls.Config // nil means in the clear
	Token     string      // "" means none
	Insecure  bool        // send the token also without TLS to other machines
	cluster   string      // id of the cluster; "" means that of the first node that answers
}

// DialClient connects to a cluster over gRPC.
func DialClient(t Target) (Store, error) {
	return client.Dial(client.Options{Endpoints: t.Endpoints, Fixed: t.Fixed, TLS: t.Tls, ClusterID: t.cluster, Token: t.Token, Insecure: t.Insecure})
}

// Open connects to endpoints with the TLS files and cluster id of the global flags.
func (a *App) Open(endpoints []string, fixed bool) (Store, error) {
	secure, err := a.tlsConfig()
	if err != nil {
		return nil, err
	}
	token, err := a.Token(endpoints)
	if err != nil {
		return nil, err
	}
	return a.Dial(Target{Endpoints: endpoints, Fixed: fixed, Tls: secure, Token: token, Insecure: a.Insecure, cluster: a.ClusterID})
}

// OpenAs is Open with another token, for a caller of this process.
func (a *App) OpenAs(endpoints []string, token string) (Store, error) {
	secure, err := a.tlsConfig()
	if err != nil {
		return nil, err
	}
	return a.Dial(Target{Endpoints: endpoints, Tls: secure, Token: token, Insecure: a.Insecure, cluster: a.ClusterID})
}

// OpenNode connects to one node alone, with the token of Credentials.
func (a *App) OpenNode(endpoint string) (Store, error) {
	secure, token, err := a.Credentials()
	if err != nil {
		return nil, err
	}
	return a.Dial(Target{Endpoints: []string{endpoint}, Fixed: true, Tls: secure, Token: token, Insecure: a.Insecure, cluster: a.ClusterID})
}

// Credentials returns the TLS settings and the token for the nodes of --endpoints; a nil config means
// plain text, and "" no token.
func (a *App) Credentials() (*tls.Config, string, error) {
	secure, err := a.tlsConfig()
	if err != nil {
		return nil, "", err
	}
	endpoints, err := a.EndpointList()
	if err != nil {
		return nil, "", err
	}
	token, err := a.Token(endpoints)
	return secure, token, err
}

// tlsConfig returns the TLS settings of --ca, --cert and --key; nil without them.
func (a *App) tlsConfig() (*tls.Config, error) {
	switch {
	case (a.Cert == "") != (a.Key == ""):
		return nil, cli.Usagef("--cert and --key go together: give both or neither")
	case a.Ca == "" && a.Cert == "":
		return nil, nil //nolint:nilnil // no TLS is an answer
	case a.Ca == "":
		return nil, cli.Usagef("--cert needs --ca: name the file of the authority that signed the nodes' certificates")
	}
	pem, err := os.ReadFile(a.Ca)
	if err != nil {
		return nil, cli.Usagef("--ca: %w", err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: x509.NewCertPool()}
	if !t.RootCAs.AppendCertsFromPEM(pem) {
		return nil, cli.Usagef("--ca: %s holds no certificate", a.Ca)
	}
	if a.Cert != "" {
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, cli.Usagef("--cert and --key: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
