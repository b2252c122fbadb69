// Command change gives this module another path, in its imports, its nested
// modules, its .proto files, its tools' configuration and its documents. It is
// run in the module's root; "make module-path" regenerates proto/ after it.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dormouse/internal/modpath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: change NEW  (such as example.com/team/dormouse)")
		os.Exit(2)
	}
	changed, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "module-path:", err)
		os.Exit(1)
	}
	fmt.Printf("%s is %s now, in %d files\n", modpath.Path, os.Args[1], changed)
}

// valid is a path that "go get" can find: its first element has a dot.
var valid = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

func run(path string) (changed int, err error) {
	if !valid.MatchString(path) {
		return 0, fmt.Errorf("%q is no module path that go get can find: use host/path, such as example.com/team/dormouse", path)
	}
	if path == modpath.Path {
		return 0, fmt.Errorf("the module's path is %q already", path)
	}
	r := newRenaming(modpath.Path, path)
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := filepath.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "bin" || base == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		next, err := r.file(name, content)
		if err != nil || bytes.Equal(next, content) {
			return err
		}
		changed++
		return os.WriteFile(name, next, 0o644)
	})
	return changed, err
}

// renaming rewrites files from one module path to another.
type renaming struct {
	from, to string
	kinds    []kind
}

// kind is how the path stands in files of some names.
type kind struct {
	names   *regexp.Regexp
	pattern *regexp.Regexp // whose first group stays, and whose second is the path
}

func newRenaming(from, to string) *renaming {
	path := regexp.QuoteMeta(from)
	r := &renaming{from: from, to: to}
	for names, pattern := range map[string]string{
		`(^|/)go\.mod$`:                      `(?m)(^module |^\t|^require |^replace )(` + path + `)(?:/|[ \n])`,
		`\.proto$`:                           `(go_package = ")(` + path + `)/`,
		`(^|/)\.golangci\.yml$`:              `(module-path: |local-prefixes: \[)(` + path + `)(?:\n|\])`,
		`(^|/)baseline\.txt$`:                `(?m)(^pkg: )(` + path + `)/`,
		`\.md$`:                              `("|go get |replace |-replace=|-require=|require )(` + path + `)(?:/|@| =>|=| v0)`,
		`(^|/)internal/modpath/modpath\.go$`: `(const Path = ")(` + path + `)"`,
	} {
		r.kinds = append(r.kinds, kind{regexp.MustCompile(names), regexp.MustCompile(pattern)})
	}
	return r
}

// file is a file's content under the new path.
func (r *renaming) file(name string, content []byte) ([]byte, error) {
	if !bytes.Contains(content, []byte(r.from)) {
		return content, nil
	}
	for _, k := range r.kinds {
		if k.names.MatchString(filepath.ToSlash(name)) {
			content = r.groups(content, k.pattern)
		}
	}
	if strings.HasSuffix(name, ".go") {
		return modpath.RewriteImports(name, content, r.from, r.to)
	}
	return content, nil
}

// groups replaces the second group of each match.
func (r *renaming) groups(content []byte, pattern *regexp.Regexp) []byte {
	matches := pattern.FindAllSubmatchIndex(content, -1)
	slices.Reverse(matches)
	for _, at := range matches {
		content = slices.Replace(content, at[4], at[5], []byte(r.to)...)
	}
	return content
}
