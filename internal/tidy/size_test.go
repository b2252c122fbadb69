package tidy

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The limits of a package and of a type, without tests and generated code.
const (
	packageFilesMax = 40
	packageLinesMax = 6000
	typeMethodsMax  = 40
)

// linesAllowed are the limits of the packages with more lines. agent holds all ops and
// reads: they implement interfaces of the package with unexported methods, so that no
// other package adds one.
var linesAllowed = map[string]int{"agent": 7000}

// size is what a package holds.
type size struct {
	files, lines int
	methods      map[string]int // by type
}

// TestPackagesAndTypesAreSmall holds every package and every type to the limits.
func TestPackagesAndTypesAreSmall(t *testing.T) {
	sizes := map[string]*size{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || notOurs(d.Name())):
			return filepath.SkipDir
		case d.IsDir() && strings.HasSuffix(d.Name(), "test"):
			return filepath.SkipDir // a suite for the tests of other packages
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil || bytes.Contains(raw, []byte("// Code generated ")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, raw, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		s := sizes[rel]
		if s == nil {
			s = &size{methods: map[string]int{}}
			sizes[rel] = s
		}
		s.files++
		s.lines += bytes.Count(raw, []byte("\n"))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				s.methods[receiver(f)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, s := range sizes {
		lines := max(packageLinesMax, linesAllowed[filepath.ToSlash(dir)])
		if s.lines > lines || s.files > packageFilesMax {
			t.Errorf("package %s has %d files and %d lines: split it (at most %d and %d)", dir, s.files, s.lines, packageFilesMax, lines)
		}
		for name, n := range s.methods {
			if n > typeMethodsMax {
				t.Errorf("type %s of package %s has %d methods: split it (at most %d)", name, dir, n, typeMethodsMax)
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	expr := f.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
