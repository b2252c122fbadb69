package overlay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"dormouse/jepsen/sim/overlay"
)

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("there is no Go tree: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// Each new version of Go may move what the overlay replaces: then files.go must change.
func TestTheOverlayFitsTheLocalGoTree(t *testing.T) {
	path, err := overlay.Make(t.TempDir(), goroot(t), runtime.Version())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "runtime/select.go") {
		t.Errorf("the overlay is %q, %v", text, err)
	}
}

// Two builds at once have the same files: the second must not truncate what the first reads.
func TestAnOverlayThatIsThereIsNotWrittenAgain(t *testing.T) {
	root, dir := goroot(t), t.TempDir()
	path, err := overlay.Make(dir, root, runtime.Version())
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]os.FileInfo{}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if before[name], err = os.Stat(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := overlay.Make(dir, root, runtime.Version()); err != nil {
		t.Fatal(err)
	}
	for name, was := range before {
		now, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if changed := !os.SameFile(was, now) || !now.ModTime().Equal(was.ModTime()); changed != (name == path) {
			t.Errorf("%s was written again: %v", filepath.Base(name), changed)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("these files are left: %v, %v", left, err)
	}
}

func TestATextThatIsNotThereIsNamedWithTheVersion(t *testing.T) {
	root := goroot(t)
	other := t.TempDir()
	for _, path := range overlay.Paths() {
		text, err := os.ReadFile(filepath.Join(root, "src", path))
		if err != nil {
			t.Fatal(err)
		}
		if path == "runtime/select.go" {
			text = []byte(strings.ReplaceAll(string(text), "norder", "ordered"))
		}
		to := filepath.Join(other, "src", path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := overlay.Make(t.TempDir(), other, "go9.9")
	if err == nil || !strings.Contains(err.Error(), "runtime/select.go of go9.9") || strings.Contains(err.Error(), "sema.go") {
		t.Errorf("got %v", err)
	}
}
