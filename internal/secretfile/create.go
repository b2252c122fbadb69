package secretfile

import (
	"errors"
	"io"
	"os"
)

// Create writes a secret to a new file that only its owner can read, and syncs it. The error
// wraps os.ErrExist if the file exists.
func Create(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
