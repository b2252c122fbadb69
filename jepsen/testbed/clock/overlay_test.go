package clock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheOverlayFitsThisGo(t *testing.T) {
	if err := CanBuild(); err != nil {
		t.Skip(err)
	}
	root, err := goroot(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	list, err := writeOverlay(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(list); err != nil {
		t.Error(err)
	}
}

// A Go release that reads its clocks in another way must not be built with half
// of the changes.
func TestTheOverlayRefusesAnotherGo(t *testing.T) {
	for name, assembly := range map[string]string{
		"renamed": "TEXT time·wall<ABIInternal>(SB),NOSPLIT,$16-24\n",
		"twice":   strings.Repeat("TEXT time·now<ABIInternal>(SB),NOSPLIT,$16-24\n", 2),
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "src", "runtime")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, e := range edits {
				if err := os.WriteFile(filepath.Join(dir, e.file), []byte(assembly), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := writeOverlay(root, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), "another way than go1.26") {
				t.Errorf("%v", err)
			}
		})
	}
}
