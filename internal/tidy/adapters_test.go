package tidy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Go in the README of each adapter is of its example, which CI runs.
func TestTheReadmesOfAdaptersShowTheirExamples(t *testing.T) {
	pages, err := filepath.Glob("../../adapters/go/*/README.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no README of an adapter: %v", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		example, err := os.ReadFile(filepath.Join(filepath.Dir(page), "example_test.go"))
		if err != nil {
			t.Error(err)
			continue
		}
		blocks := strings.Split(string(text), "```go\n")[1:]
		if len(blocks) == 0 {
			t.Errorf("%s shows no Go", page)
		}
		for _, block := range blocks {
			code, _, _ := strings.Cut(block, "```")
			for line := range strings.Lines(code) {
				if line = strings.TrimSpace(line); !strings.Contains(string(example), line) {
					t.Errorf("%s: not in the example: %s", page, line)
				}
			}
		}
	}
}
