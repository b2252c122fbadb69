package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// libraries are the packages whose code is in the bundle: their licenses go with it.
var libraries = []string{"preact", "preact-iso", "@preact/signals", "@preact/signals-core", "uplot", "@dagrejs/dagre", "@dagrejs/graphlib", "cronstrue"}

// bundle returns the files of the console by their path below dist.
func bundle(dir string) (map[string][]byte, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "dist")
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir,
		EntryPoints:   []string{"src/main.tsx"},
		Outdir:        filepath.Join(out, "assets"),
		EntryNames:    "[name]-[hash]", ChunkNames: "[name]-[hash]", AssetNames: "[name]-[hash]",
		Bundle: true, Splitting: true, Format: api.FormatESModule, Target: api.ES2022,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		// The library for JavaScript names its own files with .js, as Node needs it.
		ResolveExtensions: []string{".tsx", ".ts", ".js", ".mjs", ".css"},
		MainFields:        []string{"module", "browser", "main"},
		Metafile:          true,
		LogLevel:          api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("esbuild found %d errors", len(result.Errors))
	}
	files := map[string][]byte{}
	var script, style string
	for _, f := range result.OutputFiles {
		rel, err := filepath.Rel(out, f.Path)
		if err != nil {
			return nil, err
		}
		name := filepath.ToSlash(rel)
		files[name] = f.Contents
		if strings.HasPrefix(name, "assets/main-") && strings.HasSuffix(name, ".js") {
			script = name
		}
		if strings.HasSuffix(name, ".css") {
			style = name
		}
	}
	if script == "" || style == "" {
		return nil, errors.New("the bundle has no script or no style")
	}
	page, err := os.ReadFile(filepath.Join(dir, "src", "index.html"))
	if err != nil {
		return nil, err
	}
	preloads, err := preloads(result.Metafile, "dist/"+script)
	if err != nil {
		return nil, err
	}
	files["index.html"] = []byte(strings.NewReplacer("{{script}}", script, "{{style}}", style, "{{preloads}}", preloads).Replace(string(page)))
	files["assets/licenses.txt"], err = licenses(dir)
	return files, err
}

// preloads returns the links by which a browser loads the scripts that a script needs, in any number of
// steps, at once: those that it imports, and the pages, which it imports later. Libraries of single pages
// are left out.
func preloads(metafile, script string) (string, error) {
	var meta struct {
		Outputs map[string]struct {
			Imports []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return "", fmt.Errorf("read the description of the bundle: %w", err)
	}
	if _, ok := meta.Outputs[script]; !ok {
		return "", fmt.Errorf("the description of the bundle does not have %s", script)
	}
	var out strings.Builder
	seen := map[string]bool{script: true}
	for left := []string{script}; len(left) > 0; left = left[1:] {
		for _, i := range meta.Outputs[left[0]].Imports {
			if seen[i.Path] || i.Kind == "dynamic-import" && !strings.Contains(i.Path, "/all-") {
				continue
			}
			seen[i.Path] = true
			left = append(left, i.Path)
			fmt.Fprintf(&out, "<link rel=\"modulepreload\" href=%q>\n", strings.TrimPrefix(i.Path, "dist/"))
		}
	}
	return out.String(), nil
}

// licenses returns the licenses of the libraries.
func licenses(dir string) ([]byte, error) {
	var out strings.Builder
	for _, name := range libraries {
		at := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		text, err := os.ReadFile(filepath.Join(at, "LICENSE"))
		if err != nil {
			return nil, fmt.Errorf("read the license of %s (npm ci installs it): %w", name, err)
		}
		fmt.Fprintf(&out, "%s\n\n%s\n\n", name, strings.TrimSpace(string(text)))
	}
	return []byte(out.String()), nil
}
