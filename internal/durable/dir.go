// Package durable makes changes of the file system survive a power cut.
package durable

import (
	"errors"
	"os"
)

// SyncDir makes the entries of a directory durable: files that were created, renamed or removed.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
