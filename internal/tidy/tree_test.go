package tidy

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// linesMax is where a file holds a second noun.
const linesMax = 500

func TestNoFileIsLong(t *testing.T) {
	for path, text := range tree(t) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || generated(t, path, text) {
			continue
		}
		if lines := bytes.Count(text, []byte("\n")); lines > linesMax {
			t.Errorf("%s has %d lines, at most %d: which second noun is hiding in it?", path, lines, linesMax)
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{if not .Doc}}{{.ImportPath}}{{end}}", module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		t.Errorf("%s has no package comment", pkg)
	}
}

// The paths of the machines that this was written on mean nothing elsewhere.
// They stand in two pieces here, lest this file break its own rule.
func TestNoMachinePathIsInTheTree(t *testing.T) {
	machine := [][]byte{[]byte("/" + "root/"), []byte("/" + "work/"), []byte("/tmp" + "/w/")}
	for path, text := range tree(t) {
		for number, line := range slices.Collect(bytes.Lines(text)) {
			for _, dir := range machine {
				if bytes.Contains(line, dir) {
					t.Errorf("%s:%d names %s", path, number+1, dir)
				}
			}
		}
	}
}

// made is what the Makefile's targets write at the top, and git ignores.
var made = []string{".git", "bin", "build", "dormouse-data"}

// tree is every file of the module, by its path from the top.
func tree(t *testing.T) map[string][]byte {
	t.Helper()
	top := filepath.Join("..", "..")
	files := map[string][]byte{}
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		from, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if slices.Contains(made, from) || entry.IsDir() && notOurs(entry.Name()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil // .git is a file in a work tree
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		files[from], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func generated(t *testing.T, path string, text []byte) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return ast.IsGenerated(file)
}
