package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dormouse/jepsen"
)

// standing starts a real single-node cluster. It returns its gRPC address and the pid
// of its process. DORMJEPSEN_BINARY is the path of dormoused.
func standing(t *testing.T) (addr string, pid int) {
	t.Helper()
	if os.Getenv("DORMJEPSEN_REAL") == "" {
		t.Skip("set DORMJEPSEN_REAL=1 and DORMJEPSEN_BINARY to run a real node")
	}
	binary, err := filepath.Abs(os.Getenv("DORMJEPSEN_BINARY"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--dev", "--data-dir", filepath.Join(t.TempDir(), "data")}
	for _, face := range []string{"--http-addr", "--raft-addr", "--gossip-addr", "--grpc-addr"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // only the free port is needed
		addr = l.Addr().String()
		args = append(args, face, addr)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	node := exec.CommandContext(context.Background(), binary, args...) // the test ends it, not its context
	node.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return addr, node.Process.Pid
		}
		if time.Now().After(deadline) {
			t.Fatal("the node does not listen")
		}
	}
}

// TestRunsFollowEachOtherOnAClusterThatStands checks that a second run with the same
// seed does not find the keys of the first, and that the hooks run in turn.
func TestRunsFollowEachOtherOnAClusterThatStands(t *testing.T) {
	addr, pid := standing(t)
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		a := &app{stdout: &out, stderr: &errs, run: jepsen.Run}
		args = append([]string{"run", "--endpoints", addr, "--seed", "1", "--dir", filepath.Join(dir, name)}, args...)
		if code := a.main(t.Context(), args); code != exitOK {
			t.Fatalf("%s: exit %d: %s%s", name, code, out.String(), errs.String())
		}
		return out.String()
	}
	for _, name := range []string{"first", "second"} {
		run(name, "--time", "2s")
	}
	diary := filepath.Join(dir, "diary")
	hook := func(signal string) string {
		return fmt.Sprintf("kill -%s %d && echo %s >>%s", signal, pid, signal, diary)
	}
	run("hooked", "--workload", "register,set", "--time", "17s", "--hook-fault", hook("STOP"), "--hook-heal", hook("CONT"))
	if did, err := os.ReadFile(diary); err != nil || strings.Join(strings.Fields(string(did)), " ") != "STOP CONT" {
		t.Errorf("the hooks did %q, %v", did, err)
	}
}
