package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// banned are words that documentation, comments and messages do without. Write the
// field's term, and name the subject: see docs/contributing.md.
var banned = regexp.MustCompile(`(?i)\b(whoever|whom|whose turn|anew|nobody|for ever|surely|of late|is to be|may yet|tells whether|so long|where there is none|as of an instant of)\b`)

// outside are documents that are not in the repository: nothing may cite them.
var outside = regexp.MustCompile(`\b(HOUSE|DESIGN|SEMANTICS|HAZARDS)\b|\bSTYLE\.md\b|\.\./shared\b`)

// TestProse holds comments, doc comments, messages and pages to plain English.
func TestProse(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || notOurs(name) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel("../..", path)
		if err != nil {
			return err
		}
		problems, err := prose(path)
		for _, p := range problems {
			t.Error(filepath.ToSlash(rel) + p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// prose returns what is wrong with the words of one file, each as ":line: what".
func prose(path string) ([]string, error) {
	switch filepath.Ext(path) {
	case ".go":
		raw, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(raw, []byte("// Code generated")) || strings.HasSuffix(path, ".pb.go") || strings.HasSuffix(path, "prose_test.go") {
			return nil, err
		}
		return goProse(path, raw)
	case ".md", ".proto", ".sh", ".yaml", ".yml":
		raw, err := os.ReadFile(path)
		return textProse(raw), err
	}
	return nil, nil
}

func textProse(raw []byte) (problems []string) {
	for i, line := range strings.Split(string(raw), "\n") {
		problems = append(problems, words(i+1, line)...)
	}
	return problems
}

func words(line int, text string) (problems []string) {
	for _, word := range banned.FindAllString(text, -1) {
		problems = append(problems, fmt.Sprintf(":%d: %q is not plain: name the subject, and use the standard term", line, word))
	}
	for _, doc := range outside.FindAllString(text, -1) {
		problems = append(problems, fmt.Sprintf(":%d: %s is not in the repository", line, doc))
	}
	return problems
}

// goProse checks the comments of a Go file and, unless it is a test, its messages.
func goProse(path string, raw []byte) (problems []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, raw, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	line := func(p token.Pos) int { return files.Position(p).Line }
	for _, group := range file.Comments {
		problems = append(problems, words(line(group.Pos()), strings.ReplaceAll(group.Text(), "\n", " "))...)
	}
	if strings.HasSuffix(path, "_test.go") {
		return problems, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			problems = append(problems, words(line(lit.Pos()), lit.Value)...)
		}
		return true
	})
	for _, decl := range file.Decls {
		name, doc := documented(decl)
		if first, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), " "); doc != nil && first != name && !article(doc.Text(), name) {
			problems = append(problems, fmt.Sprintf(":%d: the comment of %s does not begin with its name", line(decl.Pos()), name))
		}
	}
	return problems, nil
}

// article reports whether a doc comment begins with an article and the name.
func article(doc, name string) bool {
	words := strings.Fields(doc)
	return len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) && words[1] == name
}

// documented returns the name and the doc comment of a function, or of the only type
// of a declaration. Both are empty for other declarations.
func documented(decl ast.Decl) (string, *ast.CommentGroup) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.Name == "init" {
			return "", nil
		}
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		if d.Tok == token.TYPE && len(d.Specs) == 1 && !d.Lparen.IsValid() {
			return d.Specs[0].(*ast.TypeSpec).Name.Name, d.Doc //nolint:forcetypeassert // of a type declaration
		}
	}
	return "", nil
}

// notOurs reports whether a directory holds what tools have installed or built.
func notOurs(name string) bool {
	made := []string{".git", "bin", "build", "dist", "node_modules", "_build", "__pycache__"}
	return slices.Contains(made, name) || strings.HasPrefix(name, "dormouse-data")
}
