package sdkgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"dormouse/internal/modpath"
)

// releaseBase begins the paths of the modules in a release. The go command fetches only
// modules whose path begins with a name that has a dot. The top-level domain internal
// is reserved for private use, so the path of an unpublished module is no host's.
func releaseBase() string {
	if first, _, _ := strings.Cut(modpath.Path, "/"); strings.Contains(first, ".") {
		return modpath.Path
	}
	return modpath.Path + ".internal"
}

// ReleasePath is the path of the library in a release.
func ReleasePath() string { return releaseBase() + strings.TrimPrefix(Path, modpath.Path) }

// released is the time of a version in the proxy's answer: a release depends on its
// source and its version only.
var released = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteProxy assembles the library and the adapters for Go at a version from the directory
// root, and writes them below the directory out in the layout of a module proxy. It
// returns the files. GOPROXY=file://… serves them.
func WriteProxy(ctx context.Context, root, out, version string) (files []string, err error) {
	work, err := os.MkdirTemp("", "dormouse-sdk-go-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	library := filepath.Join(work, "library")
	if err := Assemble(ctx, root, library, ReleasePath()); err != nil {
		return nil, fmt.Errorf("assemble %s: %w", ReleasePath(), err)
	}
	if files, err = writeModule(out, module.Version{Path: ReleasePath(), Version: version}, library); err != nil {
		return nil, err
	}
	adapters, err := filepath.Glob(filepath.Join(root, adaptersDir, "*", "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, found := range adapters {
		from := filepath.Dir(found)
		name := filepath.Base(from)
		m := module.Version{Path: releaseBase() + "/" + adaptersDir + "/" + name, Version: version}
		if err := assembleAdapter(root, from, filepath.Join(work, name), m); err != nil {
			return nil, fmt.Errorf("assemble %s: %w", m.Path, err)
		}
		written, err := writeModule(out, m, filepath.Join(work, name))
		if err != nil {
			return nil, err
		}
		files = append(files, written...)
	}
	return files, nil
}

// writeModule writes a version of the module in a directory below out, in the layout of a
// module proxy.
func writeModule(out string, m module.Version, from string) (files []string, err error) {
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.Version, released})
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{"list", []byte(m.Version + "\n")}, {m.Version + ".info", info}, {m.Version + ".mod", mod}} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	path := filepath.Join(dir, m.Version+".zip")
	return append(files, path), writeZip(path, m, from)
}

func writeZip(path string, m module.Version, dir string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(zip.CreateFromDir(file, m, dir), file.Close())
}
