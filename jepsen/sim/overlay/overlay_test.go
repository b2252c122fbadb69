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
