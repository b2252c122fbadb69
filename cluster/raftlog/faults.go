package raftlog

import (
	"errors"
	"fmt"
	"syscall"
)

// What a start-up can fail with that an operator must tell apart. Each is
// wrapped by an error that says where and what to do.
var (
	// ErrLocked: another process uses the directory.
	ErrLocked = errors.New("in use by another process")

	// ErrDamaged: the log or the stable store is not as this node left it, and
	// more than what a crash explains.
	ErrDamaged = errors.New("damaged")

	// ErrDisk: the disk does not do what it is for.
	ErrDisk = errors.New("the disk failed")

	// ErrForeign: the directory belongs to another node, another cluster or a
	// newer format.
	ErrForeign = errors.New("not this node's data")

	// ErrSettings: the settings contradict what the directory holds.
	ErrSettings = errors.New("the settings do not fit")
)

// Rebuild is what to do where a node's data is damaged.
const Rebuild = "where other nodes have this node's data, move its data directory away and let it join again with an empty one; where none does, restore a backup"

// damage is err as ErrDamaged, unless it is the operating system that speaks:
// then what is on the disk may be whole. That a file is not there is damage.
func damage(err error, format string, args ...any) error {
	said := fmt.Errorf(format, args...)
	var system syscall.Errno
	if errors.As(err, &system) && system != syscall.ENOENT {
		return fmt.Errorf("%w: %w", said, err)
	}
	return fmt.Errorf("%w: %w: %w: %s", said, ErrDamaged, err, Rebuild)
}
