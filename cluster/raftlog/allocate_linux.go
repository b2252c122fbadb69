package raftlog

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives an empty file blocks for so many bytes.
func allocate(file *os.File, bytes int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, bytes)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return writeZeros(file, bytes)
	}
	return err
}
