package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheGlossaryNamesWhatTheCodeHas holds each Go identifier that docs/glossary.md
// has in backticks, as package.Name, to be declared at the top level of a package of
// that name.
func TestTheGlossaryNamesWhatTheCodeHas(t *testing.T) {
	identifier := regexp.MustCompile("`([a-z]+\\.[A-Z][A-Za-z0-9]*)`")
	declared := declarations(t)
	terms := 0
	for _, m := range identifier.FindAllStringSubmatch(read(t, "docs/glossary.md"), -1) {
		if terms++; !declared[m[1]] {
			t.Errorf("docs/glossary.md names %s, which no package declares", m[1])
		}
	}
	if terms < 30 {
		t.Errorf("docs/glossary.md names %d Go identifiers, want at least 30", terms)
	}
}

// declarations returns the exported types, functions, constants and variables of all
// packages, as package.Name.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || notOurs(name) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			for _, name := range declaredNames(decl) {
				declared[file.Name.Name+"."+name.Name] = name.IsExported()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}

// declaredNames returns the names that a top-level declaration declares, without
// those of methods.
func declaredNames(decl ast.Decl) (names []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name)
			case *ast.ValueSpec:
				names = append(names, s.Names...)
			}
		}
	}
	return names
}
