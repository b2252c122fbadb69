package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dormouse/cmd/dormctl/kit"
)

// TestAlertsAndDocsNameCommandsThatExist looks up each command that an alert names, and each at the beginning of a line
// or of a piece of code in the documentation.
func TestAlertsAndDocsNameCommandsThatExist(t *testing.T) {
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil || docs == nil {
		t.Fatal(docs, err)
	}
	root := newRoot(&kit.App{Getenv: func(string) string { return "" }})
	inAlerts := regexp.MustCompile(`\bdormctl((?: [a-z-]+)+)`)
	inDocs := regexp.MustCompile("(?m)(?:^|`)dormctl((?: [a-z][a-z-]*)+)")
	found := 0
	for _, path := range append(docs, "../../deploy/prometheus/alerts.yml", "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pattern := inDocs
		if strings.HasSuffix(path, ".yml") {
			pattern = inAlerts
		}
		for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
			found++
			words := strings.Fields(match[1])
			command, rest, err := root.Find(words)
			if err != nil || command == root || len(rest) > 0 && command.HasSubCommands() && command.Args == nil {
				t.Errorf("%s names %q, which is no command: %v", filepath.Base(path), match[0], err)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d commands are found", found)
	}
}
