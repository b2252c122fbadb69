// Package secretfile reads files with secrets, and refuses those that other users can
// read.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// bytesMax bounds a file.
const bytesMax = 64 << 10

// ErrRefused is wrapped by the errors for files that are open to other users, are not
// regular files, or are too large.
var ErrRefused = errors.New("the file is refused")

// Read returns the text of a file with a secret. It refuses a file that users other than
// its owner may read or write. As in PostgreSQL, the group may read a file of root:
// Kubernetes gives a pod its secrets so.
func Read(path string) (string, error) {
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
		return "", fmt.Errorf("%w: %s is not a regular file", ErrRefused, path)
	case loose(info.Mode(), ownerOf(info), os.Getuid()):
		return "", fmt.Errorf("%w: other users may read or write %s (mode %04o): run \"chmod 600 %s\"; if others may have read it, replace the secret",
			ErrRefused, path, info.Mode().Perm(), path)
	case info.Size() > bytesMax:
		return "", fmt.Errorf("%w: %s has %d bytes", ErrRefused, path, info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, bytesMax))
	return string(text), err
}

// loose reports whether a file of a mode and an owner is open to too many users, for a
// process of user.
func loose(mode fs.FileMode, owner, user int) bool {
	if owner == 0 && user != 0 {
		return mode.Perm()&0o037 != 0
	}
	return mode.Perm()&0o077 != 0
}

// ownerOf returns the user id of a file's owner; -1 if the system has none.
func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
