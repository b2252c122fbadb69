package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dormouse/cmd/dormctl/kit"
)

var reference = flag.String("reference", "", "write the reference of the command line into this directory")

// referencePage is a page of the reference: the commands below one command of the first level.
type referencePage struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	text  strings.Builder
}

// Every command and every flag says what it does. With -reference the test writes what they say as pages.
func TestEveryCommandIsDescribed(t *testing.T) {
	root := newRoot(&kit.App{Getenv: func(string) string { return "" }})
	dir := *reference
	if dir == "" {
		dir = t.TempDir()
	}
	first := &referencePage{Name: "dormctl", Title: "dormctl"}
	describe(t, first, root, "#")
	pages := []*referencePage{first}
	for _, cmd := range root.Commands() {
		if cmd.Hidden || !cmd.IsAvailableCommand() {
			continue
		}
		page := &referencePage{Name: cmd.Name(), Title: cmd.Name()}
		walk(t, page, cmd, "#")
		pages = append(pages, page)
	}
	for _, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, page.Name+".md"), []byte(page.text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	index, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.json"), index, 0o600); err != nil {
		t.Fatal(err)
	}
	if len(pages) < 20 {
		t.Errorf("%d pages", len(pages))
	}
}

func walk(t *testing.T, page *referencePage, cmd *cobra.Command, level string) {
	t.Helper()
	describe(t, page, cmd, level)
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.IsAvailableCommand() {
			walk(t, page, sub, "##")
		}
	}
}

// describe writes what one command says of itself.
func describe(t *testing.T, page *referencePage, cmd *cobra.Command, level string) {
	t.Helper()
	out := &page.text
	if cmd.Short == "" {
		t.Errorf("%s does not say what it does", cmd.CommandPath())
	}
	fmt.Fprintf(out, "%s %s\n\n%s.\n\n```\n%s\n```\n\n", level, cmd.CommandPath(), cmd.Short, cmd.UseLine())
	if cmd.Long != "" && cmd.Long != cmd.Short {
		fmt.Fprintf(out, "```text\n%s\n```\n\n", strings.TrimSpace(cmd.Long))
	}
	if cmd.Example != "" {
		fmt.Fprintf(out, "```sh\n%s\n```\n\n", cmd.Example)
	}
	flags := cmd.LocalFlags()
	if !flags.HasAvailableFlags() {
		return
	}
	out.WriteString("| flag | default | |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if f.Usage == "" {
			t.Errorf("%s: the flag %s does not say what it does", cmd.CommandPath(), f.Name)
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", name, code(f.DefValue), strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(f.Usage))
	})
	out.WriteString("\n")
}

func code(text string) string {
	if text == "" || text == "[]" || text == "false" {
		return ""
	}
	return "`" + text + "`"
}
