// Package overlay makes the runtime of Go repeatable.
//
// A program in a bubble of testing/synctest has no real clock, but its schedule is not
// its own: the runtime draws the order of ready cases of a select, of maps and of equal
// timers from a generator that the system seeds, and it interrupts goroutines after real
// time. Make copies the files concerned from the local Go tree and changes them, for the
// -overlay flag of the go command. Nothing of the Go tree is kept in this repository.
//
// In a program that is built with the overlay, all goroutines of a bubble draw from one
// generator that the program seeds, goroutines that become ready run in an order drawn
// from it, nothing interrupts a goroutine, and virtual time also passes while goroutines
// wait for a mutex, so that the holder of a mutex may wait for a slow disk.
package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// change replaces one piece of text in a file of the Go tree, everywhere if often is set.
type change struct {
	from, to string
	often    bool
}

// file is a file of the Go tree, relative to GOROOT/src, and its changes.
type file struct {
	path    string
	changes []change
	tail    string // appended
}

// Make writes the changed files and the file for -overlay into dir, and returns the
// latter's path. goroot is the Go tree, and version its version, for errors. The error
// names each text that this version of Go does not have.
func Make(dir, goroot, version string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	replace := map[string]string{}
	var wrong []error
	for _, f := range files {
		from := filepath.Join(goroot, "src", filepath.FromSlash(f.path))
		text, err := os.ReadFile(from)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("overlay: %w", err))
			continue
		}
		changed, err := f.apply(string(text))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("overlay: %s of %s: %w", f.path, version, err))
			continue
		}
		to := filepath.Join(dir, strings.ReplaceAll(f.path, "/", "_"))
		wrong = append(wrong, write(to, []byte(changed)))
		replace[from] = to
	}
	if err := errors.Join(wrong...); err != nil {
		return "", err
	}
	document, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	return path, write(path, document)
}

// write writes a file, unless it has this text. Another build may read the file meanwhile, so it is
// never empty and never half written.
func write(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("overlay: %w", err), os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	return nil
}

// apply makes the changes in the text of the file. A text that is replaced once must occur
// exactly once, or else it may no longer mean what it meant.
func (f file) apply(text string) (string, error) {
	var wrong []error
	for _, c := range f.changes {
		if n := strings.Count(text, c.from); n == 0 || n > 1 && !c.often {
			wrong = append(wrong, fmt.Errorf("it has %d times what must be replaced: %q", n, c.from))
			continue
		}
		text = strings.ReplaceAll(text, c.from, c.to)
	}
	return text + f.tail, errors.Join(wrong...)
}
