package tidy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	mermaid     = regexp.MustCompile("(?s)```mermaid\nflowchart.*?```")
	diagramNode = regexp.MustCompile(`(\w+)\["([^"]+)"\]`)
	diagramEdge = regexp.MustCompile(`(?m)^\s*(\w+)(?:\["[^"]+"\])? --> (\w+)`)
)

// TestTheDiagramsAgreeWithTheImports holds each arrow of the flowcharts in
// ARCHITECTURE.md to an import that mayImport allows. The diagram of the packages
// below cluster must show all imports among them.
func TestTheDiagramsAgreeWithTheImports(t *testing.T) {
	diagrams := mermaid.FindAllString(read(t, "ARCHITECTURE.md"), -1)
	if len(diagrams) != 2 {
		t.Fatalf("ARCHITECTURE.md has %d flowcharts, want 2: all packages, and those of the Raft group", len(diagrams))
	}
	for _, diagram := range diagrams {
		for _, edge := range edges(t, diagram) {
			if !slices.Contains(mayImport[edge[0]], edge[1]) {
				t.Errorf("ARCHITECTURE.md shows that %s imports %s, which imports_test.go does not allow", edge[0], edge[1])
			}
		}
	}
	shown := edges(t, diagrams[1])
	for from, imports := range mayImport {
		for _, to := range imports {
			if ofCluster(from) && ofCluster(to) && !slices.Contains(shown, [2]string{from, to}) {
				t.Errorf("ARCHITECTURE.md does not show that %s imports %s", from, to)
			}
		}
	}
}

// ofCluster reports whether the diagram of the Raft group shows the package.
func ofCluster(pkg string) bool {
	return (pkg == "cluster" || strings.HasPrefix(pkg, "cluster/")) && !strings.HasSuffix(pkg, "test")
}

// edges returns the arrows of a flowchart between packages. A box with several
// packages stands for each of them.
func edges(t *testing.T, diagram string) (all [][2]string) {
	t.Helper()
	boxes := map[string][]string{}
	for _, m := range diagramNode.FindAllStringSubmatch(diagram, -1) {
		boxes[m[1]] = strings.Split(m[2], "<br/>")
		for _, pkg := range boxes[m[1]] {
			if _, known := mayImport[pkg]; !known {
				t.Errorf("ARCHITECTURE.md shows the package %s, which imports_test.go does not list", pkg)
			}
		}
	}
	for _, m := range diagramEdge.FindAllStringSubmatch(diagram, -1) {
		for _, from := range boxes[m[1]] {
			for _, to := range boxes[m[2]] {
				all = append(all, [2]string{from, to})
			}
		}
	}
	if len(all) == 0 {
		t.Error("a flowchart of ARCHITECTURE.md has no arrows")
	}
	return all
}
