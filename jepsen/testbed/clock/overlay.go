package clock

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// edit is a change to one file of the Go runtime: each pattern stands there
// exactly once, or the runtime is not the one that the edit was written for.
type edit struct {
	file    string // in src/runtime
	changes [][2]string
}

// edits let the assembly's reading of both clocks be called by another name,
// and put an offset on the wall clock before anyone sees it. chaosWallOffset is
// a pointer into the file that the daemon maps; nil means no offset. The
// linkname lets package main set it.
var edits = []edit{
	{
		file: "time_linux_amd64.s",
		changes: [][2]string{
			{"TEXT time·now<ABIInternal>(SB)", "TEXT ·clocks<ABIInternal>(SB)"},
		},
	},
	{
		file: "timeasm.go",
		changes: [][2]string{
			{`import _ "unsafe"`, "import (\n\t\"internal/runtime/atomic\"\n\t_ \"unsafe\"\n)"},
			{"func time_now() (sec int64, nsec int32, mono int64)\n", timeNow},
		},
	},
}

const timeNow = `//
//go:nosplit
func time_now() (sec int64, nsec int32, mono int64) {
	sec, nsec, mono = clocks()
	if chaosWallOffset != nil {
		ns := int64(nsec) + atomic.Loadint64(chaosWallOffset)
		sec += ns / 1000000000
		if ns %= 1000000000; ns < 0 {
			ns += 1000000000
			sec--
		}
		nsec = int32(ns)
	}
	return sec, nsec, mono
}

// clocks reads the wall clock and the monotonic one.
func clocks() (sec int64, nsec int32, mono int64)

// chaosWallOffset is how many nanoseconds the wall clock is ahead.
//
//go:linkname chaosWallOffset
var chaosWallOffset *int64
`

// CanBuild says why this machine cannot build a daemon whose wall clock can be
// set, or nil.
func CanBuild() error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("clock faults need linux/amd64, whose Go runtime they change; this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("clock faults need a build of their own: %w", err)
	}
	return nil
}

// writeOverlay writes changed copies of the runtime's files into dir, and the
// list of them that go build takes. goroot is that of the compiler to be used.
func writeOverlay(goroot, dir string) (list string, err error) {
	replace := map[string]string{}
	for _, e := range edits {
		from := filepath.Join(goroot, "src", "runtime", e.file)
		text, err := os.ReadFile(from)
		if err != nil {
			return "", fmt.Errorf("read the Go runtime: %w", err)
		}
		changed, err := e.apply(string(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", from, err)
		}
		to := filepath.Join(dir, e.file)
		if err := os.WriteFile(to, []byte(changed), 0o644); err != nil {
			return "", err
		}
		replace[from] = to
	}
	content, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, content, 0o644)
}

func (e edit) apply(text string) (string, error) {
	for _, change := range e.changes {
		if n := strings.Count(text, change[0]); n != 1 {
			return "", fmt.Errorf("%q is there %d times, not once: this Go release reads the clocks in another way than go1.26; bring the edits in the clock's overlay up to date, or build with go1.26", strings.TrimSpace(change[0]), n)
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	return text, nil
}

// goroot asks the go command that builds in dir, which may be another release
// than the one that built the harness.
func goroot(ctx context.Context, dir string) (string, error) {
	command := exec.CommandContext(ctx, "go", "env", "GOROOT")
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
