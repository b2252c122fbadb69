package node

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"

	"dormouse/access"
	"dormouse/access/oidc"
	"dormouse/agent"
	"dormouse/config"
)

// credentialsOf returns the options of what finds the principals of callers without a token of this cluster.
func credentialsOf(c config.Config) (o access.Options, err error) {
	if len(c.Auth.CertificateRules) > 0 {
		if o.Certificates, err = certificates(c); err != nil {
			return o, err
		}
	}
	if c.Auth.OIDCIssuer != "" {
		verifier, err := bearers(c)
		if err != nil {
			return o, err
		}
		o.Bearers = verifier
	}
	return o, nil
}

// certificates returns the principals of client certificates.
func certificates(c config.Config) (*access.Certificates, error) {
	authorities, err := readCertificates(c.Auth.CertificateCAFile)
	if err != nil {
		return nil, fmt.Errorf("auth.certificate_ca_file: %w", err)
	}
	rules := make([]access.CertificateRule, len(c.Auth.CertificateRules))
	for i, r := range c.Auth.CertificateRules {
		grants, err := grantsOf(r.Grants)
		if err != nil {
			return nil, fmt.Errorf("auth.certificate_rules: rule %d: %w", i+1, err)
		}
		rules[i] = access.CertificateRule{Principal: r.Principal, Grants: grants}
		for kind, pattern := range map[access.CertificateName]string{
			access.NameURI: r.URI, access.NameDNS: r.DNS, access.NameEmail: r.Email, access.NameCN: r.CN,
		} {
			if pattern != "" { // one of them
				rules[i].Name, rules[i].Pattern = kind, pattern
			}
		}
		if r.Principal != "" {
			if err := agent.ValidID("principal", r.Principal); err != nil {
				return nil, fmt.Errorf("auth.certificate_rules: rule %d: %w", i+1, err)
			}
		}
	}
	return access.NewCertificates(authorities, rules), nil
}

// bearers returns the principals of the tokens of an OIDC issuer.
func bearers(c config.Config) (*oidc.Verifier, error) {
	a := c.Auth
	o := oidc.Options{Issuer: a.OIDCIssuer, Audience: a.OIDCAudience, Algorithms: a.OIDCAlgorithms, Claim: a.OIDCClaim}
	for i, r := range a.OIDCRules {
		grants, err := grantsOf(r.Grants)
		if err != nil {
			return nil, fmt.Errorf("auth.oidc_rules: rule %d: %w", i+1, err)
		}
		o.Rules = append(o.Rules, oidc.Rule{Claim: r.Claim, Value: r.Value, Grants: grants})
	}
	if a.OIDCCAFile == "" {
		return oidc.New(o), nil
	}
	authorities, err := readCertificates(a.OIDCCAFile)
	if err != nil {
		return nil, fmt.Errorf("auth.oidc_ca_file: %w", err)
	}
	o.Transport = &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: poolOf(authorities)}, Proxy: http.ProxyFromEnvironment}
	return oidc.New(o), nil
}

// grantsOf returns the grants of a configuration.
func grantsOf(all []config.Grant) ([]agent.Grant, error) {
	grants := make([]agent.Grant, len(all))
	for i, g := range all {
		grants[i].Scopes = g.Scopes
		for _, verb := range g.Verbs {
			grants[i].Verbs = append(grants[i].Verbs, agent.Verb(verb))
		}
	}
	if err := agent.ValidGrants(grants); err != nil {
		return nil, err
	}
	return grants, nil
}

// readCertificates reads the certificates of a PEM file.
func readCertificates(path string) (all []*x509.Certificate, err error) {
	rest, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no certificate", path)
	}
	return all, nil
}

func poolOf(all []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, one := range all {
		pool.AddCert(one)
	}
	return pool
}

// acceptClients makes a server verify the client certificates that are credentials, if its clients have some.
// A listener with a ca_file of its own requires a certificate of either authority.
func acceptClients(t *tls.Config, c config.Config) error {
	if t == nil || c.Auth.CertificateCAFile == "" {
		return nil
	}
	authorities, err := readCertificates(c.Auth.CertificateCAFile)
	if err != nil {
		return fmt.Errorf("auth.certificate_ca_file: %w", err)
	}
	if t.ClientCAs == nil {
		t.ClientCAs, t.ClientAuth = poolOf(authorities), tls.VerifyClientCertIfGiven
		return nil
	}
	t.ClientCAs = t.ClientCAs.Clone()
	for _, one := range authorities {
		t.ClientCAs.AddCert(one)
	}
	return nil
}
