package secretfile

import (
	"errors"
	"os"
	"path/filepath"

	"dormouse/internal/durable"
)

// Create writes a secret to a new file that only its owner can read, and syncs the file and its
// directory. After a crash the file is whole or does not exist. The error wraps os.ErrExist if
// the file exists.
func Create(path, text string) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = place(f.Name(), path)
	}
	if removed := os.Remove(f.Name()); removed != nil && !os.IsNotExist(removed) {
		err = errors.Join(err, removed)
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

// place gives a file another name, which no file may have. It may leave the old name.
func place(from, to string) error {
	err := os.Link(from, to) // a rename would replace a file
	if err == nil || os.IsExist(err) {
		return err
	}
	if _, there := os.Lstat(to); !os.IsNotExist(there) {
		return err
	}
	return os.Rename(from, to) // the file system has no hard links
}
