package sdkgo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"dormouse/internal/modpath"
)

// adaptersDir has the adapters for Go, each a module of its own on the library.
const adaptersDir = "adapters/go"

// assembleAdapter copies an adapter for a release: without its tests, under the path and
// on the library of the release.
func assembleAdapter(root, from, to string, m module.Version) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if strings.HasSuffix(rel, "_test.go") || filepath.Ext(rel) != ".go" && rel != "README.md" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(rel) == ".go" {
			if content, err = modpath.RewriteImports(rel, content, modpath.Path, releaseBase()); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o644)
	})
	if err != nil {
		return err
	}
	if err := copyFile(filepath.Join(root, "LICENSE"), filepath.Join(to, "LICENSE")); err != nil {
		return err
	}
	return adapterRequirements(filepath.Join(from, "go.mod"), filepath.Join(to, "go.mod"), m)
}

// adapterRequirements writes the go.mod of an adapter in a release.
func adapterRequirements(from, to string, m module.Version) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(from, raw, nil)
	if err != nil {
		return err
	}
	err = errors.Join(mod.AddModuleStmt(m.Path), mod.DropRequire(Path), mod.DropReplace(Path, ""), mod.AddRequire(ReleasePath(), m.Version))
	if err != nil {
		return err
	}
	mod.Cleanup()
	text, err := mod.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
