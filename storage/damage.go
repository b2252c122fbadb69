package storage

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// ErrDamaged is wrapped by the errors of an engine whose files are not as they
// were written, or not there. What the operating system has to say of its own
// accord, such as that the disk is full, is no damage.
var ErrDamaged = errors.New("damaged")

// marked is err, with ErrDamaged where Pebble says that it read what it never
// wrote.
func marked(err error) error {
	if pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
