package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
)

// fileBytesMax bounds a key file.
const fileBytesMax = 64 << 10

// ReadFile returns the text of a file with a secret. It refuses a file that users
// other than its owner may read or write.
func ReadFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: %s is not a regular file", ErrKey, path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%w: other users may read or write %s (mode %04o): run \"chmod 600 %s\"; if others may have read it, replace the secret", ErrKey, path, info.Mode().Perm(), path)
	case info.Size() > fileBytesMax:
		return "", fmt.Errorf("%w: %s has %d bytes", ErrKey, path, info.Size())
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// WriteFile writes a file with a secret, readable by its owner only, and syncs it.
func WriteFile(path, text string) error {
	return renameio.WriteFile(path, []byte(text), 0o600, renameio.IgnoreUmask())
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
