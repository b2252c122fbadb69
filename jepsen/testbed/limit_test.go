package testbed_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/testbed"
)

// TestAProcessIsStarved runs a shell that opens a file when it is told to.
func TestAProcessIsStarved(t *testing.T) {
	cmd := exec.Command("sh", "-c", `while read line; do if (exec 9</dev/null) 2>/dev/null; then echo opened; else echo refused; fi; done`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() //nolint:errcheck // it ends with its input
	defer in.Close() //nolint:errcheck // nothing is written any more
	time.Sleep(100 * time.Millisecond)
	says := func(want string) {
		t.Helper()
		if _, err := in.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 64)
		n, err := out.Read(said)
		if got := strings.TrimSpace(string(said[:n])); err != nil || got != want {
			t.Errorf("it says %q (%v), want %q", got, err, want)
		}
	}
	says("opened")
	if err := testbed.Starve(cmd.Process.Pid, 0, -1); err != nil {
		t.Fatal(err)
	}
	says("refused")
	if err := testbed.Feed(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	says("opened")
	if err := testbed.Starve(cmd.Process.Pid, -1, 32<<20); err != nil {
		t.Fatal(err)
	}
	limits, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/limits")
	if err != nil || !strings.Contains(string(limits), "Max address space         ") || strings.Contains(string(limits), "Max address space         unlimited") {
		t.Errorf("%s %v", limits, err)
	}
}
