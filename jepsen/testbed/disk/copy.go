package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Wipe empties the data directory of a stopped host.
func Wipe(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return err
}

// Clone copies a data directory into another one, which must be empty or missing. It
// keeps hard links. Both hosts must be stopped; otherwise from may change during the
// copy.
func Clone(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("clone %s into %s: the target is not empty: wipe it first", from, to)
	}
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		return fmt.Errorf("clone %s into %s: %w: %s", from, to, err, bytes.TrimSpace(out))
	}
	return nil
}
