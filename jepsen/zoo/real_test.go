//go:build zoo

package zoo_test

import (
	"os"
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/zoo"
)

// options are those of all runs; DORMJEPSEN_DIR keeps their files.
func options(t *testing.T) zoo.Options {
	t.Helper()
	dir := os.Getenv("DORMJEPSEN_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	return zoo.Options{Dir: dir, Binary: os.Getenv("DORMJEPSEN_BINARY"), Progress: func(line string) { t.Log(line) }}
}

// TestBugs looks for every bug of the zoo.
func TestBugs(t *testing.T) {
	all, err := zoo.Specimens()
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	var results []zoo.Result
	for _, s := range all {
		t.Run(string(s.Bug), func(t *testing.T) {
			o := o
			o.Progress = func(line string) { t.Log(line) }
			found, err := zoo.Run(t.Context(), o, []zoo.Specimen{s})
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, found...)
			t.Log("\n" + zoo.Table(found))
			if !found[0].Found() {
				t.Errorf("%s was not found", s.Bug)
			}
		})
	}
	t.Log("\n" + zoo.Table(results))
}

// TestSelf looks for a few, and has a sound build pass.
func TestSelf(t *testing.T) {
	results, err := zoo.Run(t.Context(), options(t), zoo.Quick())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Found() {
			t.Errorf("%s was not found", r.Bug)
		}
	}
	sound, err := zoo.RunSound(t.Context(), options(t), zoo.Sound)
	if err != nil {
		t.Fatal(err)
	}
	if sound.Verdict != check.OK {
		t.Errorf("a sound build came to %s: %v", sound.Verdict, sound.By)
	}
	t.Log("\n" + zoo.Table(append(results, sound)))
}
