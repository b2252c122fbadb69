package access

import (
	"fmt"
	"strings"

	"dormouse/internal/secretfile"
)

// ReadSecretFile returns the secret in a file, which only its owner may be able to read, as
// secretfile.Read says. The error is os.ErrNotExist if there is no file.
func ReadSecretFile(path string) (string, error) { return readFile(path, CheckSecret) }

// ReadBearerFile is ReadSecretFile for a file that may hold a token of another issuer.
func ReadBearerFile(path string) (string, error) { return readFile(path, CheckBearer) }

func readFile(path string, check func(string) error) (string, error) {
	text, err := secretfile.Read(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(text)
	if err := check(secret); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return secret, nil
}

// WriteSecretFile writes a secret to a new file that only its owner can read.
func WriteSecretFile(path, secret string) error { return secretfile.Create(path, secret+"\n") }
