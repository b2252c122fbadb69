package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Wipe empties a data directory of a host that is down.
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

// Clone copies a data directory into another one, which is empty or is made,
// hard links and all. Both hosts must be down, or from is copied as it changes.
func Clone(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("clone %s into %s: it is not empty: wipe it first", from, to)
	}
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		return fmt.Errorf("clone %s into %s: %w: %s", from, to, err, bytes.TrimSpace(out))
	}
	return nil
}
