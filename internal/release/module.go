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
)

// module is a version of a module that a program may link.
type module struct {
	Path, Version, Sum string
	Dir                string // of its source, which has the licence
}

// allModules returns the modules of the build list by path.
func allModules(ctx context.Context) (map[string]module, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-json", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules: %w", err)
	}
	all := make(map[string]module)
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		var m module
		err := list.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list the modules: %w", err)
		}
		all[m.Path] = m
	}
}

// linkedInto returns the modules that the programs of a directory link, without their own,
// ordered by path.
func linkedInto(ctx context.Context, dir string) ([]module, error) {
	all, err := allModules(ctx) // after the build, which has fetched their source
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
	slices.SortFunc(linked, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(linked, func(a, b module) bool { return a.Path == b.Path }), nil
}

// modulesOf returns the modules that a program links.
func modulesOf(program string, all map[string]module) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read the modules of %s: %w", program, err)
	}
	var linked []module
	for _, dep := range info.Deps {
		m, ok := all[dep.Path]
		if !ok || m.Dir == "" {
			return nil, fmt.Errorf("%s links %s %s, whose source is not here: run \"go mod download\"", program, dep.Path, dep.Version)
		}
		linked = append(linked, module{Path: dep.Path, Version: dep.Version, Sum: dep.Sum, Dir: m.Dir})
	}
	return linked, nil
}
