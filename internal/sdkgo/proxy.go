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

// ReleasePath is the path of the module in a release. The go command fetches only
// modules whose path begins with a name that has a dot. The top-level domain internal
// is reserved for private use, so the path of an unpublished module is no host's.
func ReleasePath() string {
	if first, _, _ := strings.Cut(modpath.Path, "/"); strings.Contains(first, ".") {
		return Path
	}
	return modpath.Path + ".internal/sdk/go"
}

// released is the time of a version in the proxy's answer: a release depends on its
// source and its version only.
var released = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// WriteProxy assembles the module at a version from the directory root, and writes it
// below the directory out in the layout of a module proxy. It returns the files.
// GOPROXY=file://… serves them.
func WriteProxy(ctx context.Context, root, out, version string) (files []string, err error) {
	m := module.Version{Path: ReleasePath(), Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "dormouse-sdk-go-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := Assemble(ctx, root, work, m.Path); err != nil {
		return nil, fmt.Errorf("assemble %s: %w", m.Path, err)
	}
	dir := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, released})
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(work, "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{"list", []byte(version + "\n")}, {version + ".info", info}, {version + ".mod", mod}} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	path := filepath.Join(dir, version+".zip")
	return append(files, path), writeZip(path, m, work)
}

func writeZip(path string, m module.Version, dir string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(zip.CreateFromDir(file, m, dir), file.Close())
}
