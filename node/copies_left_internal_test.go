package node

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dormouse/storage"
)

// leave makes the copies that crashed processes leave in a data directory, and returns their names.
func leave(t *testing.T, dir string) []string {
	t.Helper()
	names := []string{backupTemp, recoveryTemp, rehearsalPrefix + "1", restoreTemp}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, name, "state"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// A start removes the copies that crashes have left, and nothing that a process still uses.
func TestAStartRemovesCopiesThatAreLeft(t *testing.T) {
	for name, c := range map[string]struct {
		locked string // of the data directory
		stay   []string
	}{
		"after a crash":             {},
		"while a node runs":         {"state", []string{backupTemp, recoveryTemp, rehearsalPrefix + "1"}},
		"while a state is restored": {filepath.Join(restoreTemp, "state"), []string{restoreTemp}},
	} {
		dir := t.TempDir()
		left := leave(t, dir)
		if c.locked != "" {
			if err := os.MkdirAll(filepath.Join(dir, c.locked), 0o700); err != nil {
				t.Fatal(err)
			}
			lock, err := storage.Lock(storage.Disk, filepath.Join(dir, c.locked))
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close() //nolint:errcheck // the test ends
		}
		if err := removeLeftovers(nil, dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, copied := range left {
			_, err := os.Stat(filepath.Join(dir, copied))
			if stays := !errors.Is(err, os.ErrNotExist); stays != slices.Contains(c.stay, copied) {
				t.Errorf("%s: %s stays: %v", name, copied, stays)
			}
		}
	}
}
