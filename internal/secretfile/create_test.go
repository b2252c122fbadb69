package secretfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dormouse/internal/secretfile"
)

// A reader, such as a process that starts again after a crash, finds the whole text or no file.
func TestANewFileAppearsWhole(t *testing.T) {
	dir := t.TempDir()
	path, text := filepath.Join(dir, "secret"), strings.Repeat("x", 16<<20)
	first := make(chan int64, 1) // the file's size when it is first seen
	looking := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			if n == 10 {
				close(looking)
			}
			if info, err := os.Stat(path); err == nil {
				first <- info.Size()
				return
			}
		}
	}()
	<-looking
	if err := secretfile.Create(path, text); err != nil {
		t.Fatal(err)
	}
	if size := <-first; size != int64(len(text)) {
		t.Errorf("the file was seen with %d bytes of %d", size, len(text))
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if err := secretfile.Create(path, "other"); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second file: %v", err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("the directory has %v, %v", all, err)
	}
}
