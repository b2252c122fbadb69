package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"dormouse/internal/modpath"
)

// A linker flag that names a package of another module sets nothing, without an error. So the files of deploy/ ask
// "go list -m" for the path, and stay as they are if it changes.
func TestNoLinkerFlagNamesThePath(t *testing.T) {
	flag := regexp.MustCompile(`-X[ =]*["']?` + regexp.QuoteMeta(modpath.Path) + `/`)
	found := 0
	err := filepath.WalkDir("../../../deploy", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if regexp.MustCompile(`-X `).Match(content) {
			found++
		}
		if at := flag.Find(content); at != nil {
			t.Errorf("%s has %q: use $(go list -m)", name, at)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d files with linker flags, %v", found, err)
	}
}
