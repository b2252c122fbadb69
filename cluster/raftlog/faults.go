package raftlog

import (
	"errors"
	"fmt"
	"syscall"
)

// Errors of a start-up that call for different actions of the operator. The error
// that wraps one says where and what to do.
var (
	// ErrLocked means that another process uses the directory.
	ErrLocked = errors.New("in use by another process")

	// ErrDamaged means that the log or the stable store has changed since this node wrote it,
	// by more than a crash explains.
	ErrDamaged = errors.New("damaged")

	// ErrDisk means that the disk does not store what is written.
	ErrDisk = errors.New("the disk failed")

	// ErrForeign means that the directory belongs to another node, another cluster or a
	// newer format.
	ErrForeign = errors.New("not this node's data")

	// ErrSettings means that the settings contradict what the directory holds.
	ErrSettings = errors.New("the settings contradict the data directory")
)

// Rebuild tells the operator what to do if a node's data is damaged.
const Rebuild = "if other nodes have this node's data, move its data directory away and let it join again with an empty one; if none does, restore a backup"

// damage wraps err with ErrDamaged, unless it is an error of the operating system:
// then the data on the disk may be intact. A file that is missing is damage.
func damage(err error, format string, args ...any) error {
	said := fmt.Errorf(format, args...)
	var system syscall.Errno
	if errors.As(err, &system) && system != syscall.ENOENT {
		return fmt.Errorf("%w: %w", said, err)
	}
	return fmt.Errorf("%w: %w: %w: %s", said, ErrDamaged, err, Rebuild)
}
