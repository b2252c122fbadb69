package storage

import "github.com/cockroachdb/pebble/v2/vfs/errorfs"

// Faulty is fs with before called ahead of every change to it, by the path
// that is changed; an error from it is the operation's. It is for tests: to
// fail a disk, or to take its state at an operation.
func Faulty(fs FS, before func(path string) error) FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		return before(op.Path)
	}))
}
