package storage

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// ErrDamaged is wrapped by the errors of an engine whose files are missing or not as they were
// written. Errors of the operating system, such as a full disk, are not damage.
var ErrDamaged = errors.New("damaged")

// marked returns err, with ErrDamaged if Pebble found corrupt data.
func marked(err error) error {
	if pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// Exhausted reports whether an engine could not be read because the process, or the
// machine, has no file descriptor or no memory left. Its files may be as they should be.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
