package operator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/cluster/keys"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/durable"
)

// The files of a directory of certificates.
const (
	caCertFile = "ca.pem"
	caKeyFile  = "ca.key"
	keyFile    = "cluster.key"
)

// nodeDomain is the trust domain of the URI that names a node in its certificate.
const nodeDomain = "dormouse"

// The default validity of certificates, in days; how far their start is set back,
// because clocks differ.
const (
	caDays   = 3650
	certDays = 365
	certSkew = time.Hour
)

func certsCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("certs", "Certificates for nodes and clients: create a CA and sign them", certsInit(a), certsNode(a), certsClient(a))
	cmd.Long = `certs creates a certificate authority and the certificates that it signs. It
works on local files and needs no cluster. Keep ca.key secret: it can sign a
certificate for any node.`
	cmd.Example = `  dormctl certs init
  dormctl certs node n1 --san 10.0.0.1 --san n1.example.com
  dormctl certs client alice`
	return cmd
}

func certsInit(a *kit.App) *cobra.Command {
	var dir string
	var days int
	cmd := &cobra.Command{
		Use: "init", Short: "Create a certificate authority and a cluster key", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("make the directory: %w", err)
			}
			if err := absent(dir, caCertFile, caKeyFile, keyFile); err != nil {
				return err
			}
			template, err := certTemplate("Dormouse CA", days)
			if err != nil {
				return err
			}
			template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
			template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
			if err := writeCertificate(template, nil, nil, filepath.Join(dir, caCertFile), filepath.Join(dir, caKeyFile)); err != nil {
				return err
			}
			if err := create(filepath.Join(dir, keyFile), []byte(keys.New().Encode()+"\n"), 0o600); err != nil {
				return err
			}
			return printFiles(a, dir, caCertFile, caKeyFile, keyFile)
		},
	}
	certFlags(cmd, &dir, &days, caDays)
	return cmd
}

func certsNode(a *kit.App) *cobra.Command {
	var dir string
	var days int
	var sans []string
	cmd := &cobra.Command{
		Use: "node NAME --san HOST", Short: "Create a certificate for a node", Args: cli.Exactly("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(sans) == 0 {
				return cli.Usagef("certs node needs --san: each address and name that others reach the node at, such as --san 10.0.0.1 --san n1.example.com")
			}
			return sign(a, dir, args[0], days, sans, []*url.URL{keys.NodeURI(nodeDomain, args[0])}, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
		},
	}
	certFlags(cmd, &dir, &days, certDays)
	cmd.Flags().StringSliceVar(&sans, "san", nil, "address or name at which others reach the node; repeatable")
	return cmd
}

func certsClient(a *kit.App) *cobra.Command {
	var dir string
	var days int
	cmd := &cobra.Command{
		Use: "client NAME", Short: "Create a certificate for a client, for clusters that require one", Args: cli.Exactly("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			return sign(a, dir, args[0], days, nil, nil, x509.ExtKeyUsageClientAuth)
		},
	}
	certFlags(cmd, &dir, &days, certDays)
	return cmd
}

func certFlags(cmd *cobra.Command, dir *string, days *int, daysDefault int) {
	cmd.Flags().StringVar(dir, "dir", "certs", "directory for the files")
	cmd.Flags().IntVar(days, "days", daysDefault, "validity of the certificate, in days")
}

// sign makes the certificate of a node or a client.
func sign(a *kit.App, dir, name string, days int, sans []string, uris []*url.URL, usages ...x509.ExtKeyUsage) error {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return cli.Usagef("invalid name %q for a certificate: use letters, digits and dashes", name)
	}
	certPath, keyPath := name+".pem", name+".key"
	if err := absent(dir, certPath, keyPath); err != nil {
		return err
	}
	authority, key, err := readAuthority(dir)
	if err != nil {
		return err
	}
	template, err := certTemplate(name, days)
	if err != nil {
		return err
	}
	if template.NotAfter.After(authority.NotAfter) {
		template.NotAfter = authority.NotAfter
	}
	template.KeyUsage, template.ExtKeyUsage, template.URIs = x509.KeyUsageDigitalSignature, usages, uris
	for _, san := range sans {
		if ip := net.ParseIP(san); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, san)
		}
	}
	if err := writeCertificate(template, authority, key, filepath.Join(dir, certPath), filepath.Join(dir, keyPath)); err != nil {
		return err
	}
	return printFiles(a, dir, certPath, keyPath)
}

// certTemplate returns a certificate with the fields that all certificates share.
func certTemplate(name string, days int) (*x509.Certificate, error) {
	if days < 1 {
		return nil, cli.Usagef("--days is %d: use at least 1", days)
	}
	now := time.Now()
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-certSkew), NotAfter: now.AddDate(0, 0, days),
	}, nil
}

// writeCertificate creates a key and its certificate, signed by an authority; without
// one the certificate is self-signed.
func writeCertificate(template, authority *x509.Certificate, authorityKey any, certPath, keyPath string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	if authority == nil {
		authority, authorityKey = template, key
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, authority, key.Public(), authorityKey)
	if err != nil {
		return fmt.Errorf("sign the certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	if err := create(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		return err
	}
	return create(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o644)
}

// readAuthority reads the authority's certificate and key, which certs init wrote.
func readAuthority(dir string) (*x509.Certificate, any, error) {
	var blocks [2]*pem.Block
	for i, name := range []string{caCertFile, caKeyFile} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, cli.Usagef("%s does not exist in %s: run dormctl certs init first, or name the directory with --dir", name, dir)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the authority: %w", err)
		}
		if blocks[i], _ = pem.Decode(raw); blocks[i] == nil {
			return nil, nil, fmt.Errorf("%s in %s is not a PEM file", name, dir)
		}
	}
	authority, err := x509.ParseCertificate(blocks[0].Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", caCertFile, err)
	}
	key, err := x509.ParsePKCS8PrivateKey(blocks[1].Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", caKeyFile, err)
	}
	return authority, key, nil
}

// absent returns a usage error if one of the files exists.
func absent(dir string, names ...string) error {
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return cli.Usagef("%s already exists in %s: delete it first, or choose another --dir", name, dir)
		}
	}
	return nil
}

// create writes a new file, durably. It fails if the file exists.
func create(path string, raw []byte, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) //nolint:gosec // the user names it
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return durable.SyncDir(filepath.Dir(path))
}

// printFiles says what was made.
func printFiles(a *kit.App, dir string, names ...string) error {
	var g cli.Grid
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(dir, name)
		g.Add("wrote", paths[i])
	}
	return a.Print(struct {
		Files []string `json:"files"`
	}{paths}, g)
}
