package config

import (
	"fmt"
	"net"
	"net/url"

	"dormouse/internal/hostcheck"
)

func (c Config) validateAuth(v *checks) {
	oneOf(v, "auth.mode", c.Auth.Mode, AuthTokens, AuthOff)
	if c.Auth.Mode == AuthOff && !c.Private() && !c.Node.Insecure {
		v.add("auth.mode is off, but other machines can reach %s: use auth.mode tokens, listen on 127.0.0.1, or allow it by name with --insecure", c.open())
	}
}

// open returns the addresses of the servers for clients, for a message.
func (c Config) open() string {
	text := fmt.Sprintf("http.addr %s or grpc.addr %s", c.HTTP.Addr, c.GRPC.Addr)
	if c.Redis.Addr != "" {
		text = fmt.Sprintf("http.addr %s, grpc.addr %s or redis.addr %s", c.HTTP.Addr, c.GRPC.Addr, c.Redis.Addr)
	}
	return text
}

// algorithms are the signatures of tokens that may be accepted: all are asymmetric.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

func (c Config) validateCertificates(v *checks) {
	a := c.Auth
	checkFile(v, "auth.certificate_ca_file", a.CertificateCAFile)
	if (a.CertificateCAFile == "") != (len(a.CertificateRules) == 0) {
		v.add("auth.certificate_ca_file and auth.certificate_rules go together: set both or neither")
		return
	}
	if len(a.CertificateRules) > rulesMax {
		v.add("auth.certificate_rules has %d rules: use at most %d", len(a.CertificateRules), rulesMax)
	}
	if a.CertificateCAFile != "" && !c.servesTLS(c.HTTP.Listen()) && !c.servesTLS(c.GRPC) {
		v.add("auth.certificate_ca_file is set, but neither HTTP nor gRPC use TLS: set http.cert_file and grpc.cert_file")
	}
	if a.CertificateCAFile != "" && a.Mode == AuthOff {
		v.add("auth.certificate_rules has rules, but auth.mode is off: use auth.mode tokens, or drop them")
	}
	for i, r := range a.CertificateRules {
		names := 0
		for _, name := range []string{r.URI, r.DNS, r.Email, r.CN} {
			if name != "" {
				names++
			}
		}
		if names != 1 {
			v.add("auth.certificate_rules: rule %d names %d of uri, dns, email and cn: name one", i+1, names)
		}
		checkGrants(v, fmt.Sprintf("auth.certificate_rules: rule %d", i+1), r.Grants)
	}
}

// servesTLS reports whether l is served over TLS.
func (c Config) servesTLS(l Listen) bool { return l.TLS() || c.Issued(l) }

func (c Config) validateOIDC(v *checks) {
	a := c.Auth
	checkFile(v, "auth.oidc_ca_file", a.OIDCCAFile)
	if a.OIDCIssuer == "" {
		if a.OIDCAudience != "" || len(a.OIDCRules) > 0 || a.OIDCCAFile != "" {
			v.add("auth.oidc_issuer is missing, and other settings of OIDC are set: name the issuer")
		}
		return
	}
	checkURL(v, "auth.oidc_issuer", a.OIDCIssuer, c.Node.Insecure)
	switch {
	case a.OIDCAudience == "":
		v.add("auth.oidc_audience is missing: without it this node would accept tokens that are meant for other services")
	case a.OIDCClaim == "":
		v.add("auth.oidc_claim is missing: name the claim that names the principal, such as sub")
	case a.Mode == AuthOff:
		v.add("auth.oidc_issuer is set, but auth.mode is off: use auth.mode tokens, or drop the issuer")
	}
	if len(a.OIDCAlgorithms) == 0 {
		v.add("auth.oidc_algorithms is empty: name one, such as RS256")
	}
	for _, name := range a.OIDCAlgorithms {
		oneOf(v, "auth.oidc_algorithms", name, algorithms...)
	}
	if len(a.OIDCRules) > rulesMax {
		v.add("auth.oidc_rules has %d rules: use at most %d", len(a.OIDCRules), rulesMax)
	}
	for i, r := range a.OIDCRules {
		if r.Claim == "" || r.Value == "" {
			v.add("auth.oidc_rules: rule %d needs a claim and a value", i+1)
		}
		checkGrants(v, fmt.Sprintf("auth.oidc_rules: rule %d", i+1), r.Grants)
	}
}

// checkGrants checks the form of grants; package node knows the verbs.
func checkGrants(v *checks, what string, grants []Grant) {
	if len(grants) == 0 {
		v.add("%s has no grants: such as {scopes: [team-*], verbs: [read, write]}", what)
	}
	for _, g := range grants {
		if len(g.Verbs) == 0 {
			v.add("%s has a grant without verbs", what)
		}
	}
}

// checkURL checks the URL of another service, which needs TLS unless it is on this machine.
func checkURL(v *checks, key, text string, insecure bool) {
	to, err := url.Parse(text)
	switch {
	case err != nil || to.Host == "" || to.Scheme != "https" && to.Scheme != "http":
		v.add("%s %q is not a URL: write one such as https://example.com/dormouse", key, text)
	case to.Scheme == "http" && !hostcheck.Loopback(net.JoinHostPort(to.Hostname(), "80")) && !insecure:
		v.add("%s %q is reached without TLS on another machine: use https", key, text)
	}
}

func (c Config) validateAudit(v *checks) {
	a := c.Audit
	between(v, "audit.file_bytes", a.FileBytes, auditFileBytesMin, auditFileBytesMax)
	between(v, "audit.files", int64(a.Files), auditFilesMin, auditFilesMax)
	oneOf(v, "audit.on_failure", a.OnFailure, AuditRefuse, AuditContinue)
	checkFile(v, "audit.webhook_key_file", a.WebhookKeyFile)
	if a.WebhookURL == "" {
		if a.WebhookKeyFile != "" {
			v.add("audit.webhook_key_file is set, and audit.webhook_url is not: set both, or the URL alone")
		}
		return
	}
	checkURL(v, "audit.webhook_url", a.WebhookURL, c.Node.Insecure)
	if !a.Enabled {
		v.add("audit.webhook_url is set, and audit.enabled is false: enable the log, or drop the URL")
	}
}
