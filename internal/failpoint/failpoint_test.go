//go:build failpoints

package failpoint_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"dormouse/internal/failpoint"
)

// variablePoint makes the test binary meet a point again and again.
const variablePoint = "FAILPOINT_TEST"

func TestMain(m *testing.M) {
	if p := os.Getenv(variablePoint); p != "" {
		for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(time.Millisecond) {
			at := time.Now()
			failpoint.At(failpoint.Point(p))
			if time.Since(at) > 100*time.Millisecond {
				os.Exit(7)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAnOrderIsFollowedAtItsPointOnly(t *testing.T) {
	for _, c := range []struct {
		order, point string
		killed       bool
		code         int
	}{
		{"apply-end crash", "apply-end", true, -1},
		{"apply-end 150ms", "apply-end", false, 7},
		{"apply-begin crash", "apply-end", false, 0},
		{"no-such-point crash", "apply-end", false, 2},
	} {
		t.Run(c.order+" at "+c.point, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "order")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), failpoint.Variable+"="+path, variablePoint+"="+c.point)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // the order comes while the process runs
			if err := os.WriteFile(path+".new", []byte(c.order), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if status.Signaled() != c.killed || cmd.ProcessState.ExitCode() != c.code {
				t.Errorf("the process ended with %v", cmd.ProcessState)
			}
		})
	}
}
