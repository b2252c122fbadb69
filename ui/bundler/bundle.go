package main

import (
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
	files["index.html"] = []byte(strings.NewReplacer("{{script}}", script, "{{style}}", style).Replace(string(page)))
	files["assets/licenses.txt"], err = licenses(dir)
	return files, err
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
