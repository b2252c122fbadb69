package keys

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"

	"dormouse/internal/durable"
	"dormouse/internal/secretfile"
)

// ReadFile returns the text of a file with a secret, as secretfile.Read does. The error
// wraps ErrKey if the file is refused.
func ReadFile(path string) (string, error) {
	text, err := secretfile.Read(path)
	if errors.Is(err, secretfile.ErrRefused) {
		return "", fmt.Errorf("%w: %w", ErrKey, err)
	}
	return text, err
}

// WriteFile writes a file with a secret, readable by its owner only, and syncs it and its
// directory.
func WriteFile(path, text string) error {
	if err := renameio.WriteFile(path, []byte(text), 0o600, renameio.IgnoreUmask()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// ReadRing returns the keys of a file. The error wraps fs.ErrNotExist if there is
// none, and ErrKey if its contents or its mode are wrong.
func ReadRing(path string) (Ring, error) {
	text, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := ParseRing(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Missing reports whether err says that a file does not exist.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// WriteCertificate writes a certificate and its key to files, as PEM. The error says
// which step failed.
func WriteCertificate(certFile, keyFile string, cert *tls.Certificate) error {
	secret, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return fmt.Errorf("encode the key of a certificate: %w", err)
	}
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := WriteFile(path, string(pem.EncodeToMemory(block))); err != nil {
			return fmt.Errorf("write a certificate: %w", err)
		}
	}
	return nil
}
