package modpath_test

import (
	"os"
	"strings"
	"testing"

	"dormouse/internal/modpath"
)

func TestThePathIsTheModules(t *testing.T) {
	file, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(file), "\n"); first != "module "+modpath.Path {
		t.Errorf("go.mod says %q, the constant %q: run make module-path", first, modpath.Path)
	}
}
