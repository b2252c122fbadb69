package tidy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What the README shows of the client is taken from the example, which
// compiles and runs; only the lines that dial are its own.
func TestTheReadmesGoIsTheExample(t *testing.T) {
	_, rest, found := strings.Cut(read(t, "README.md"), "```go\n")
	code, _, closed := strings.Cut(rest, "```")
	dialled, shown, twoParts := strings.Cut(code, "\n\n")
	if !found || !closed || !twoParts {
		t.Fatal("the README has no Go in two paragraphs: dialling, and the example")
	}
	example := read(t, "client/example_test.go")
	if !strings.Contains(dialled, "client.Dial(client.Options{})") || !strings.Contains(example, "client.Dial(client.Options{})") {
		t.Error("the README or the example does not dial")
	}
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); !strings.Contains(example, line) {
			t.Errorf("not in the example: %s", line)
		}
	}
}

func TestTheDocumentsLinkToWhatIsThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	documents := []string{"README.md", "ARCHITECTURE.md"}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil || more == nil {
		t.Fatalf("no docs: %v", err)
	}
	for _, path := range more {
		documents = append(documents, filepath.Join("docs", filepath.Base(path)))
	}
	for _, document := range documents {
		for _, match := range link.FindAllStringSubmatch(read(t, document), -1) {
			target := filepath.Join("..", "..", filepath.Dir(document), match[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", document, match[1])
			}
		}
	}
}
