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

// documents returns the pages that a reader starts from, relative to the root.
func documents(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", "ARCHITECTURE.md"}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil || more == nil {
		t.Fatalf("no docs: %v", err)
	}
	for _, path := range more {
		all = append(all, filepath.Join("docs", filepath.Base(path)))
	}
	return all
}

// TestTheDocumentsCiteFilesThatAreThere holds each Go file that a page names in
// backquotes, with its directory, to be in the repository.
func TestTheDocumentsCiteFilesThatAreThere(t *testing.T) {
	file := regexp.MustCompile("`([a-z0-9_]+(?:/[a-z0-9_]+)+\\.go)`")
	cited := 0
	for _, document := range documents(t) {
		for _, match := range file.FindAllStringSubmatch(read(t, document), -1) {
			cited++
			if _, err := os.Stat(filepath.Join("..", "..", match[1])); err != nil {
				t.Errorf("%s cites %s, which is not there", document, match[1])
			}
		}
	}
	if cited == 0 {
		t.Error("no page cites a file")
	}
}

func TestTheDocumentsLinkToWhatIsThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, document := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, document), -1) {
			target := filepath.Join("..", "..", filepath.Dir(document), match[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", document, match[1])
			}
		}
	}
}

// Each conformance id that a test cites has its rule in docs/semantics.md.
func TestEachConformanceIDHasARule(t *testing.T) {
	id := regexp.MustCompile(`\b(S|P|M|PD|T|C|JS|JL|ME|SG|CL)-([0-9]+)\b`)
	rules := map[string]bool{}
	for line := range strings.Lines(read(t, "docs/semantics.md")) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range id.FindAllString(cells[1], -1) {
				rules[m] = true
			}
		}
	}
	cited := 0
	for _, dir := range []string{"agent/agenttest", "instance", "instance/pod", "instance/pod/podtest", "fsm", "node", "router"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, m := range id.FindAllString(read(t, strings.TrimPrefix(file, "../../")), -1) {
				if cited++; !rules[m] {
					t.Errorf("%s cites %s, which docs/semantics.md does not have", file, m)
				}
			}
		}
	}
	if cited < 100 {
		t.Errorf("only %d citations were found", cited)
	}
}
