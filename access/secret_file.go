package access

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ReadSecretFile returns the secret in a file, which only its owner may be able to read. The error
// is os.ErrNotExist if there is no file.
func ReadSecretFile(path string) (string, error) { return readFile(path, CheckSecret) }

// ReadBearerFile is ReadSecretFile for a file that may hold a token of another issuer.
func ReadBearerFile(path string) (string, error) { return readFile(path, CheckBearer) }

func readFile(path string, check func(string) error) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("other users can access %s (mode %04o): run chmod 600 %s", path, mode, path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, bearerBytes))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	secret := strings.TrimSpace(string(raw))
	if err := check(secret); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return secret, nil
}

// WriteSecretFile writes a secret to a new file that only its owner can read.
func WriteSecretFile(path, secret string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, secret+"\n")
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
