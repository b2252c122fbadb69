package testbed_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dormouse/jepsen/testbed"
)

// TestMain runs the test binary as a harness that opens a testbed and is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TESTBED_VICTIM"); dir != "" {
		b, err := testbed.Open(context.Background(), testbed.Options{
			Dir: dir, Nodes: 1, Binary: os.Getenv("DORMJEPSEN_BINARY"), Net: true, Disk: testbed.Faulty | testbed.Powered,
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(b.Hosts()[0].PID())
		select {} // until it is killed
	}
	os.Exit(m.Run())
}

func TestNothingOutlivesTheHarness(t *testing.T) {
	real(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TESTBED_VICTIM="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the harness says %q", line)
	}
	node, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(node) //nolint:errcheck // errors do not matter
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	ended := []unix.PollFd{{Fd: int32(node), Events: unix.POLLIN}}
	if n, err := unix.Poll(ended, 5000); n != 1 || err != nil {
		t.Errorf("the node outlives its harness: %v", err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for mounted(t, dir) && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if mounted(t, dir) {
		t.Error("mounts outlive the harness")
	}
}

// mounted reports whether anything is mounted below dir.
func mounted(t *testing.T, dir string) bool {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(mounts), dir)
}
