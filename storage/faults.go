package storage

import "github.com/cockroachdb/pebble/v2/vfs/errorfs"

// Faulty returns fs with a call of before ahead of every change, with the changed path; its error
// becomes the operation's. It is for tests, to simulate disk failures or to copy the disk's state
// at an operation.
func Faulty(fs FS, before func(path string) error) FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		return before(op.Path)
	}))
}
