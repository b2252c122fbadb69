package keys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"sync"
	"time"
)

const (
	// certTTL is the validity of an issued certificate; Issuer replaces it after two
	// thirds of that.
	certTTL = 30 * 24 * time.Hour
	// certSkew is how far the start of a certificate is set back: clocks differ.
	certSkew = 24 * time.Hour
	// spiffeScheme and nodePath make up the URI that names a node in its certificate:
	// spiffe://CLUSTER/node/ID.
	spiffeScheme = "spiffe"
	nodePath     = "/node/"
)

// authorityFrom and authorityUntil are the validity of an authority. They are fixed,
// since each node makes the authority's certificate by itself.
var (
	authorityFrom  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	authorityUntil = time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Authority is the certificate authority of a cluster. Its key follows from the
// cluster key, so each node has the same one and no file holds it.
type Authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// Authority returns the certificate authority of the key.
func (k Key) Authority() (*Authority, error) {
	key, err := authorityKey(k.derive("authority"))
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	id := sha256.Sum256(public)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Dormouse cluster " + k.ID()}, SubjectKeyId: id[:20],
		NotBefore: authorityFrom, NotAfter: authorityUntil, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(nil, template, template, &key.PublicKey, key) // no randomness: signed by RFC 6979
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	return &Authority{key, cert}, nil
}

// Authorities returns the certificate authorities of the keys, in their order. While a key is replaced,
// some nodes have certificates of the one, and some of the other.
func (r Ring) Authorities() ([]*Authority, error) {
	all := make([]*Authority, len(r))
	for i, k := range r {
		var err error
		if all[i], err = k.Authority(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// authorityKey returns the P-256 key of a seed. One seed in 2³² is no valid scalar:
// then its hash is tried.
func authorityKey(seed []byte) (key *ecdsa.PrivateKey, err error) {
	for range 8 {
		if key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), seed); err == nil {
			return key, nil
		}
		next := sha256.Sum256(seed)
		seed = next[:]
	}
	return nil, fmt.Errorf("make the authority: %w", err)
}

// PEM returns the authority's certificate, for clients to trust.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Pool returns a pool that holds the authority.
func (a *Authority) Pool() *x509.CertPool { return PoolOf([]*Authority{a}) }

// PoolOf returns a pool that holds all the authorities.
func PoolOf(authorities []*Authority) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, a := range authorities {
		pool.AddCert(a.cert)
	}
	return pool
}

// issue returns a new certificate for node, whose servers have these host names or
// addresses.
func (a *Authority) issue(node string, hosts []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("issue a certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: node},
		NotBefore: now.Add(-certSkew), NotAfter: now.Add(certTTL),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		URIs: []*url.URL{NodeURI(a.cert.Subject.CommonName[len("Dormouse cluster "):], node)},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if host != "" {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("issue a certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// NodeURI returns the URI that names a node of a trust domain in its certificate.
func NodeURI(domain, node string) *url.URL {
	return &url.URL{Scheme: spiffeScheme, Host: domain, Path: nodePath + node}
}

// NodeOf returns the node that a certificate names, or "" if it names none. It does
// not verify the certificate.
func NodeOf(cert *x509.Certificate) string {
	for _, uri := range cert.URIs {
		if node, ok := cutPath(uri); ok {
			return node
		}
	}
	return ""
}

func cutPath(uri *url.URL) (node string, ok bool) {
	if uri.Scheme != spiffeScheme || len(uri.Path) <= len(nodePath) || uri.Path[:len(nodePath)] != nodePath {
		return "", false
	}
	return uri.Path[len(nodePath):], true
}

// Issuer keeps a valid certificate for one node and replaces it in time. Its
// methods may be called concurrently.
type Issuer struct {
	authority *Authority
	node      string
	hosts     []string

	mu      sync.Mutex
	current *tls.Certificate // guarded by mu
}

// Issuer returns an Issuer for a node whose servers have these host names or
// addresses.
func (a *Authority) Issuer(node string, hosts ...string) *Issuer {
	return &Issuer{authority: a, node: node, hosts: hosts}
}

// Certificate returns a certificate that stays valid for at least ten days.
func (i *Issuer) Certificate() (*tls.Certificate, error) { return i.at(time.Now()) }

func (i *Issuer) at(now time.Time) (*tls.Certificate, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.current != nil && i.current.Leaf.NotAfter.Sub(now) > certTTL/3 && !now.Before(i.current.Leaf.NotBefore) {
		return i.current, nil
	}
	c, err := i.authority.issue(i.node, i.hosts, now)
	if err == nil {
		i.current = c
	}
	return c, err
}
