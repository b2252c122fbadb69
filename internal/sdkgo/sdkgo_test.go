package sdkgo_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dormouse/internal/modpath"
	"dormouse/internal/sdkgo"
)

// gocmd runs the go command, and returns what it prints.
func gocmd(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// files returns the content of the files of a directory by name.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			all[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheModuleBuildsAloneWithoutTheServers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "sdk")
	if err := sdkgo.Assemble(t.Context(), "../..", out, sdkgo.Path); err != nil {
		t.Fatal(err)
	}
	gocmd(t, out, nil, "vet", "./...")
	gocmd(t, out, nil, "mod", "tidy", "-diff")
	for imported := range strings.FieldsSeq(gocmd(t, out, nil, "list", "-deps", "./...")) {
		if strings.HasPrefix(imported, modpath.Path+"/") && !strings.HasPrefix(imported, sdkgo.Path+"/") {
			t.Errorf("it imports %s of the servers' module", imported)
		}
	}
	all := files(t, out)
	for _, library := range []string{"koanf", "hashicorp/raft", "pebble", "cobra", "prometheus"} {
		if bytes.Contains(all["go.mod"], []byte(library)) {
			t.Errorf("it requires %s", library)
		}
	}
	for name := range all {
		if strings.HasSuffix(name, "_test.go") {
			t.Errorf("it has the test %s", name)
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "client/client.go", "agent/memstore/store.go"} {
		if len(all[name]) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestTheModuleIsTheSameEachTime(t *testing.T) {
	out := filepath.Join(t.TempDir(), "sdk")
	if err := sdkgo.Assemble(t.Context(), "../..", out, sdkgo.Path); err != nil {
		t.Fatal(err)
	}
	first := files(t, out)
	if err := os.WriteFile(filepath.Join(out, "stale.go"), []byte("package stale\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sdkgo.Assemble(t.Context(), "../..", out, sdkgo.Path); err != nil { // replaces the first
		t.Fatal(err)
	}
	second := files(t, out)
	if len(first) != len(second) {
		t.Errorf("%d files, and then %d", len(first), len(second))
	}
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestADirectoryOfOthersIsNotReplaced(t *testing.T) {
	out := t.TempDir()
	for _, name := range []string{"go.mod", "main.go"} {
		if err := os.WriteFile(filepath.Join(out, name), []byte("module example.org/mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := sdkgo.Assemble(t.Context(), "../..", out, sdkgo.Path)
	if err == nil || !strings.Contains(err.Error(), "holds files of others") {
		t.Errorf("%v; want a refusal", err)
	}
	if got := files(t, out); len(got) != 2 {
		t.Errorf("%d files are left of 2", len(got))
	}
}

// The modules of a release are fetched as go get fetches any other, from a proxy that is a
// directory. Other modules come from the cache of this machine, or else from its proxy.
func TestAProgramFetchesTheReleasedModules(t *testing.T) {
	proxy, program := t.TempDir(), t.TempDir()
	written, err := sdkgo.WriteProxy(t.Context(), "../..", proxy, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	path := sdkgo.ReleasePath()
	base := strings.TrimSuffix(path, "/sdk/go")
	for _, module := range []string{"sdk/go", "adapters/go/adk", "adapters/go/dapr", "adapters/go/eino", "adapters/go/valkeyrie"} {
		name := filepath.Join(proxy, base, module, "@v", "v1.2.3.zip")
		if _, err := os.Stat(name); err != nil || !slices.Contains(written, name) {
			t.Errorf("%s is missing: %v", name, err)
		}
	}
	source := strings.ReplaceAll(`package main

import (
	"fmt"

	"PATH/agent"
	"PATH/agent/memstore"
	"PATH/client"

	"BASE/adapters/go/valkeyrie"
)

func main() {
	s := client.In(memstore.New(), "default")
	fmt.Println(s, agent.DefaultScope, valkeyrie.StoreName)
}
`, "PATH", path)
	source = strings.ReplaceAll(source, "BASE", base)
	if err := os.WriteFile(filepath.Join(program, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cached, upstream, _ := strings.Cut(strings.TrimSpace(gocmd(t, ".", nil, "env", "GOMODCACHE", "GOPROXY")), "\n")
	env := []string{
		"GOPROXY=file://" + proxy + ",file://" + cached + "/cache/download," + upstream,
		"GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw -mod=mod", "GOSUMDB=off",
	}
	gocmd(t, program, env, "mod", "init", "example.org/program")
	gocmd(t, program, env, "get", path+"/...@v1.2.3", base+"/adapters/go/valkeyrie@v1.2.3")
	gocmd(t, program, env, "list", "-deps", ".") // finds each import; compiling would take long without a cache
	if got := gocmd(t, program, env, "list", "-m", path); strings.TrimSpace(got) != path+" v1.2.3" {
		t.Errorf("the program uses %s", got)
	}
}
