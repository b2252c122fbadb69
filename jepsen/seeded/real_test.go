//go:build seeded

package seeded_test

import (
	"os"
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/seeded"
)

// options returns the options of all runs; DORMJEPSEN_DIR keeps their files.
func options(t *testing.T) seeded.Options {
	t.Helper()
	dir := os.Getenv("DORMJEPSEN_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	return seeded.Options{Dir: dir, Binary: os.Getenv("DORMJEPSEN_BINARY"), Progress: func(line string) { t.Log(line) }}
}

// TestBugs tries to find every bug of the table.
func TestBugs(t *testing.T) {
	all, err := seeded.Trials()
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	var results []seeded.Result
	for _, s := range all {
		t.Run(string(s.Bug), func(t *testing.T) {
			o := o
			o.Progress = func(line string) { t.Log(line) }
			found, err := seeded.Run(t.Context(), o, []seeded.Trial{s})
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, found...)
			t.Log("\n" + seeded.Table(found))
			if !found[0].Found() {
				t.Errorf("%s was not found", s.Bug)
			}
		})
	}
	t.Log("\n" + seeded.Table(results))
}

// TestSelf tries to find the quick ones, and checks that a correct build passes.
func TestSelf(t *testing.T) {
	results, err := seeded.Run(t.Context(), options(t), seeded.Quick())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Found() {
			t.Errorf("%s was not found", r.Bug)
		}
	}
	sound, err := seeded.RunSound(t.Context(), options(t), seeded.Sound)
	if err != nil {
		t.Fatal(err)
	}
	if sound.Verdict != check.OK {
		t.Errorf("a sound build came to %s: %v", sound.Verdict, sound.By)
	}
	t.Log("\n" + seeded.Table(append(results, sound)))
}
