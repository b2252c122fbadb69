package tidy

import (
	"strings"
	"testing"
)

// The handler that docs/embedding.md shows is the one of the examples, which
// compiles and runs.
func TestTheHandlerInTheDocumentsIsTheExample(t *testing.T) {
	_, rest, found := strings.Cut(read(t, "docs/embedding.md"), "## A handler\n")
	_, rest, opened := strings.Cut(rest, "```go\n")
	code, _, closed := strings.Cut(rest, "```")
	if !found || !opened || !closed {
		t.Fatal("docs/embedding.md has no Go under its heading A handler")
	}
	example := read(t, "examples/companion/companion.go")
	for declaration := range strings.SplitSeq(strings.TrimSpace(code), "\n\n// ") {
		if !strings.Contains(example, strings.TrimPrefix(declaration, "// ")) {
			t.Errorf("not in the example: %s", declaration)
		}
	}
}
