package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// licenceName matches the files that a licence asks to be passed on.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// writeNotice writes the licences of the linked modules, and of Go itself.
func writeNotice(ctx context.Context, path string, linked []module) error {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("find Go's licence: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Dormouse is distributed with the following software.\n")
	for _, m := range append([]module{{Path: "Go", Version: runtime.Version(), Dir: strings.TrimSpace(string(root))}}, linked...) {
		texts, err := licences(m.Dir)
		if err != nil {
			return fmt.Errorf("licence of %s: %w", m.Path, err)
		}
		fmt.Fprintf(&b, "\n%s\n%s %s\n", bytes.Repeat([]byte("="), 80), m.Path, m.Version)
		for _, text := range texts {
			fmt.Fprintf(&b, "\n%s\n", bytes.TrimSpace(text))
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// licences returns the texts of the licences in a module's directory. Some modules of a
// larger repository have theirs one or more directories above, outside of the module:
// the module proxy copies it, so that each module has one.
func licences(dir string) ([][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no licence is in %s", filepath.Base(dir))
	}
	return texts, nil
}
