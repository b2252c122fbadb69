package seededbug_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"dormouse/internal/seededbug"
)

// backwards is the marker in guarded, reversed, because this file must not contain the
// marker twice.
const backwards = "tnesba si taht hcnarb eht ni dnats ylno I" //nolint:misspell // it is backwards

//go:noinline
func guarded() string {
	if seededbug.Is(seededbug.SealIgnored) {
		return "I only stand in the branch that is absent"
	}
	return ""
}

// A build without the tag contains nothing of a guarded branch, not even its strings.
func TestWithoutTheTagAGuardedBranchIsNotInTheProgram(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	marker := []byte(backwards)
	slices.Reverse(marker)
	if there := bytes.Contains(program, marker); there != seededbug.Enabled {
		t.Errorf("the branch is in the program: %t, want %t", there, seededbug.Enabled)
	}
	if guarded() != "" && os.Getenv(seededbug.Variable) != string(seededbug.SealIgnored) {
		t.Error("a bug is seeded without a request")
	}
}

func TestOnlyKnownBugsAreSeeded(t *testing.T) {
	for _, b := range seededbug.All() {
		if got, err := seededbug.Parse(string(b)); got != b || err != nil {
			t.Errorf("%s: %q, %v", b, got, err)
		}
		if seededbug.About(b) == "" {
			t.Errorf("nothing says what %s does", b)
		}
	}
	if b, err := seededbug.Parse(""); b != "" || err != nil {
		t.Errorf("no name: %q, %v", b, err)
	}
	_, err := seededbug.Parse("no-such-bug")
	if err == nil || !strings.Contains(err.Error(), string(seededbug.NoDedupe)) {
		t.Errorf("an unknown name: %v, which lists none of the known ones", err)
	}
}
