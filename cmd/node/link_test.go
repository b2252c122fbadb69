package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"dormouse/internal/modpath"
)

// TestProgramsAreSmall bounds the stripped programs, as they are released: without the
// paths of this machine. A call of a method by a name that the linker does not know
// (text/template, reflect.Value.MethodByName) makes it keep every exported method,
// which costs 5 MB. The test names the function that does it.
func TestProgramsAreSmall(t *testing.T) {
	for program, most := range map[string]int64{"node": 39_200_000, "dormctl": 22_300_000} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), program)
			// The go command prints what the linker has printed again, at each build with the
			// same compilation of package main. The harmless -e makes it another one than that
			// of make build.
			main := modpath.Path + "/cmd/" + program
			build := exec.Command("go", "build", "-trimpath", "-tags", "grpcnotrace", "-gcflags", main+"=-e", "-ldflags", "-s -w -dumpdep", "-o", path, main)
			out, err := build.CombinedOutput()
			if err != nil {
				t.Fatalf("build: %v\n%s", err, out[max(0, len(out)-1000):])
			}
			if !bytes.Contains(out, []byte("main.main -> ")) {
				t.Fatal("the linker lists no dependencies")
			}
			for _, edge := range regexp.MustCompile(`(?m)^.* <ReflectMethod>.*$`).FindAll(out, 3) {
				t.Errorf("reflection keeps every exported method: %s", edge)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() > most {
				t.Errorf("%s has %d bytes, above %d", program, info.Size(), most)
			}
		})
	}
}
