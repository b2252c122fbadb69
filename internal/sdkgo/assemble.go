package sdkgo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"dormouse/internal/modpath"
)

// Path is the path of the assembled module in a checkout.
const Path = modpath.Path + "/sdk/go"

// offered are the packages that the library is for. Their imports come with them.
var offered = []string{"agent/memstore", "client", "client/stores", "turn"}

// Assemble writes the module with a path into the directory out, from the packages of
// the module in the directory root. It replaces an earlier result, and refuses to
// replace anything else.
func Assemble(ctx context.Context, root, out, path string) error {
	if err := clear(out); err != nil {
		return err
	}
	packages, err := list(ctx, root)
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := p.copy(out, path); err != nil {
			return fmt.Errorf("copy %s: %w", p.ImportPath, err)
		}
	}
	for from, to := range map[string]string{"LICENSE": "LICENSE", "sdk/go/README.md": "README.md", "go.sum": "go.sum"} {
		if err := copyFile(filepath.Join(root, from), filepath.Join(out, to)); err != nil {
			return err
		}
	}
	return require(ctx, root, out, path)
}

// clear removes an earlier result.
func clear(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	first, err := os.ReadFile(filepath.Join(out, "go.mod"))
	if err != nil || !bytes.Contains(first, []byte(mark)) {
		return fmt.Errorf("%s holds files of others: name a directory that is empty, or that this program made", out)
	}
	return os.RemoveAll(out)
}

// mark is in each go.mod that Assemble writes.
const mark = "// Assembled by internal/sdkgo. Do not edit."

// goPackage is a package of the module, as go list describes it.
type goPackage struct {
	Dir, ImportPath         string
	GoFiles, IgnoredGoFiles []string // ignored are those of other platforms and tags
	EmbedFiles, OtherFiles  []string
}

// list returns the packages of the module that the offered ones consist of.
func list(ctx context.Context, root string) ([]goPackage, error) {
	args := []string{"list", "-deps", "-json=Dir,ImportPath,GoFiles,IgnoredGoFiles,EmbedFiles,OtherFiles"}
	for _, p := range offered {
		args = append(args, "./"+p)
	}
	out, err := run(ctx, root, args...)
	if err != nil {
		return nil, err
	}
	var ours []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return ours, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		if strings.HasPrefix(p.ImportPath, modpath.Path+"/") {
			ours = append(ours, p)
		}
	}
}

// copy writes the files of the package below out, without its tests.
func (p goPackage) copy(out, path string) error {
	if len(p.EmbedFiles)+len(p.OtherFiles) > 0 {
		return fmt.Errorf("it has files that are not Go, %v: teach this program to copy them", slices.Concat(p.EmbedFiles, p.OtherFiles))
	}
	to := filepath.Join(out, filepath.FromSlash(strings.TrimPrefix(p.ImportPath, modpath.Path+"/")))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		if content, err = modpath.RewriteImports(name, content, modpath.Path, path); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// require writes go.mod and go.sum: what the packages need of the requirements of root,
// at the same versions.
func require(ctx context.Context, root, out, path string) error {
	name := filepath.Join(root, "go.mod")
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	from, err := modfile.Parse(name, raw, nil)
	if err != nil {
		return err
	}
	versions := make(map[string]string)
	to := new(modfile.File)
	to.AddComment(mark)
	if err := errors.Join(to.AddModuleStmt(path), to.AddGoStmt(from.Go.Version)); err != nil {
		return err
	}
	for _, r := range from.Require {
		versions[r.Mod.Path] = r.Mod.Version
		to.AddNewRequire(r.Mod.Path, r.Mod.Version, r.Indirect)
	}
	to.SetRequireSeparateIndirect(to.Require)
	text, err := to.Format()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "go.mod"), text, 0o644); err != nil {
		return err
	}
	if _, err := run(ctx, out, "mod", "tidy"); err != nil { // removes what is not needed
		return err
	}
	return sameVersions(ctx, root, filepath.Join(out, "go.mod"), versions)
}

// sameVersions returns an error if a go.mod requires a module at another version than
// the servers do. A module that go.mod of the servers does not name has the version that
// they select: tests of a dependency may need it.
func sameVersions(ctx context.Context, root, name string, versions map[string]string) error {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	tidied, err := modfile.Parse(name, raw, nil)
	if err != nil {
		return err
	}
	for _, r := range tidied.Require {
		want, named := versions[r.Mod.Path]
		if !named {
			selected, err := run(ctx, root, "list", "-m", "-f", "{{.Version}}", r.Mod.Path)
			if err != nil {
				return err
			}
			want = strings.TrimSpace(string(selected))
		}
		if want != r.Mod.Version {
			return fmt.Errorf("the module would require %s, and the servers require %q: require the version in go.mod of the servers", r.Mod, want)
		}
	}
	return nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// run runs the go command in a directory, outside of any workspace.
func run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, failure.Bytes())
	}
	return out, nil
}
