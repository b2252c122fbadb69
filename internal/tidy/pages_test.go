package tidy

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
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
	for _, page := range pages(t) {
		text := read(t, page)
		words := len(strings.Fields(text))
		if words > pageWordsMax && !isReference(text) {
			t.Errorf("%s has %d words, at most %d are allowed: split the page by subject", page, words, pageWordsMax)
		}
	}
}

// pages returns ARCHITECTURE.md and all pages below docs/, relative to the root.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"ARCHITECTURE.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isReference reports whether one of the first five lines of a page contains
// "Reference".
func isReference(text string) bool {
	lines := strings.SplitN(text, "\n", 6)
	return strings.Contains(strings.Join(lines[:min(5, len(lines))], "\n"), "Reference")
}

// TestTheDocumentsLinkToHeadingsThatAreThere holds each link with a fragment to name
// a page that is there and a heading of it.
func TestTheDocumentsLinkToHeadingsThatAreThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	for _, page := range append(pages(t), "README.md", "jepsen/README.md") {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			if !slices.Contains(anchors(read(t, target)), m[2]) {
				t.Errorf("%s links to %s#%s, which is not there", page, m[1], m[2])
			}
		}
	}
}

// anchors returns the fragments of a page's headings, as GitHub makes them.
func anchors(text string) (all []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N}\- ]`)
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			name := drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			all = append(all, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return all
}
