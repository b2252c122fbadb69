package storage

import (
	"errors"
	"fmt"

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
