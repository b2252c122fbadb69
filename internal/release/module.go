package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dormouse/internal/modpath"
)

// module is a version of a module that a program may link.
type module struct {
	Path, Version, Sum string
	Dir                string // of its source, which has the licence
}

// allModules returns the modules of the build lists by path and version. root is the directory of the
// main module.
func allModules(ctx context.Context, root string) (map[string]module, error) {
	all := make(map[string]module)
	for _, from := range programs {
		if err := listModules(ctx, filepath.Join(root, from.module), all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listModules adds the modules of the build list of the module in a directory.
func listModules(ctx context.Context, dir string, all map[string]module) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", "all")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list the modules of %s: %w", dir, err)
	}
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var m module
		err := list.Decode(&m)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list the modules of %s: %w", dir, err)
		}
		if name := m.Path + "@" + m.Version; m.Dir != "" || all[name].Dir == "" { // one list may have its source, and another not
			all[name] = m
		}
	}
}

// linkedInto returns the modules that the programs of a directory link, without their own,
// ordered by path and version. root is the directory of the main module.
func linkedInto(ctx context.Context, root, dir string) ([]module, error) {
	all, err := allModules(ctx, root) // after the build, which has fetched their source
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the programs: %w", err)
	}
	var linked []module
	for _, e := range entries {
		found, err := modulesOf(filepath.Join(dir, e.Name()), all)
		if err != nil {
			return nil, err
		}
		linked = append(linked, found...)
	}
	slices.SortFunc(linked, func(a, b module) int { return strings.Compare(a.Path+"@"+a.Version, b.Path+"@"+b.Version) })
	return slices.CompactFunc(linked, func(a, b module) bool { return a.Path == b.Path && a.Version == b.Version }), nil
}

// modulesOf returns the modules that a program links.
func modulesOf(program string, all map[string]module) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read the modules of %s: %w", program, err)
	}
	var linked []module
	for _, dep := range info.Deps {
		if dep.Path == modpath.Path { // dormblob is a module of its own
			continue
		}
		m, ok := all[dep.Path+"@"+dep.Version]
		if !ok || m.Dir == "" {
			return nil, fmt.Errorf("%s links %s %s, whose source is not here: run \"go mod download\"", program, dep.Path, dep.Version)
		}
		linked = append(linked, module{Path: dep.Path, Version: dep.Version, Sum: dep.Sum, Dir: m.Dir})
	}
	return linked, nil
}
