package access

import (
	"crypto/x509"
	"time"

	"dormouse/agent"
	"dormouse/internal/wildcard"
)

// The sources of principals without a token.
const (
	SourceCertificate Source = "certificate"
	SourceOIDC        Source = "oidc"
)

// CertificateName is a kind of name in a certificate.
type CertificateName string

// The kinds of names that rules match.
const (
	NameURI   CertificateName = "uri"   // a URI of the subject's alternative names, such as spiffe://example.org/agents/a
	NameDNS   CertificateName = "dns"   // a DNS name of them
	NameEmail CertificateName = "email" // an email address of them
	NameCN    CertificateName = "cn"    // the common name of the subject
)

// CertificateRule maps certificates to a principal.
type CertificateRule struct {
	Name      CertificateName
	Pattern   string // the name, or its beginning followed by *
	Principal string // "" means cert: and the name that matches
	Grants    []agent.Grant
}

// Certificates finds the principals of client certificates.
type Certificates struct {
	roots map[string]bool // raw certificates of the authorities
	rules []CertificateRule
}

// NewCertificates returns the principals of certificates that one of the authorities has issued. The first
// rule that matches a certificate decides.
func NewCertificates(authorities []*x509.Certificate, rules []CertificateRule) *Certificates {
	c := &Certificates{roots: map[string]bool{}, rules: rules}
	for _, one := range authorities {
		c.roots[string(one.Raw)] = true
	}
	return c
}

// Principal returns the principal of a client, given the chains that the TLS server has verified. It returns nil
// if no chain ends at one of the authorities, or if no rule matches. A chain of another authority
// that the server accepts means nothing here.
func (c *Certificates) Principal(chains [][]*x509.Certificate) *Principal {
	for _, chain := range chains {
		if len(chain) > 0 && c.roots[string(chain[len(chain)-1].Raw)] {
			return c.match(chain[0])
		}
	}
	return nil
}

func (c *Certificates) match(leaf *x509.Certificate) *Principal {
	for _, rule := range c.rules {
		for _, name := range namesOf(leaf, rule.Name) {
			if !wildcard.Match(rule.Pattern, name) {
				continue
			}
			principal := rule.Principal
			if principal == "" {
				principal = CertificatePrefix + name
			}
			if agent.ValidID("principal", principal) != nil {
				continue // such a name must not be in logs
			}
			return &Principal{Name: principal, Grants: rule.Grants, Source: SourceCertificate, Until: leaf.NotAfter}
		}
	}
	return nil
}

// namesOf returns the names of a kind in a certificate.
func namesOf(leaf *x509.Certificate, kind CertificateName) (names []string) {
	switch kind {
	case NameURI:
		for _, uri := range leaf.URIs {
			names = append(names, uri.String())
		}
	case NameDNS:
		names = leaf.DNSNames
	case NameEmail:
		names = leaf.EmailAddresses
	case NameCN:
		if leaf.Subject.CommonName != "" {
			names = []string{leaf.Subject.CommonName}
		}
	}
	return names
}

// current returns an error if the credentials of p have expired.
func (p *Principal) current() error {
	if p.Until.IsZero() || time.Now().Before(p.Until) {
		return nil
	}
	return agent.Errorf(agent.CodeUnauthenticated, "the credentials of principal %q expired at %s: connect with new ones", p.Name, p.Until.UTC().Format(time.RFC3339))
}
