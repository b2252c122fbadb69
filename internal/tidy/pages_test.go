package tidy

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const (
	pageWordsMax   = 1500 // of a page that is no reference, counted as wc -w does
	readmeLinesMax = 120
)

// TestPagesAreShort holds README.md to 120 lines, and ARCHITECTURE.md and each page
// of docs/ to 1,500 words. A page that says "Reference" in its first lines may be
// longer.
func TestPagesAreShort(t *testing.T) {
	if lines := strings.Count(read(t, "README.md"), "\n"); lines > readmeLinesMax {
		t.Errorf("README.md has %d lines, at most %d are allowed: move detail to docs/", lines, readmeLinesMax)
	}
	pages := []string{"ARCHITECTURE.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			pages = append(pages, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text := read(t, page)
		words := len(strings.Fields(text))
		if words > pageWordsMax && !isReference(text) {
			t.Errorf("%s has %d words, at most %d are allowed: split the page by subject", page, words, pageWordsMax)
		}
	}
}

// isReference reports whether one of the first five lines of a page contains
// "Reference".
func isReference(text string) bool {
	lines := strings.SplitN(text, "\n", 6)
	return strings.Contains(strings.Join(lines[:min(5, len(lines))], "\n"), "Reference")
}
