package attack

import (
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/internal/modpath"
)

// buildDaemon builds the daemon and returns its path.
func buildDaemon(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "dormoused")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "grpcnotrace", "-o", program, modpath.Path+"/cmd/node").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// startLimited starts the daemon with a limit of open files. It returns the addresses of HTTP and
// gRPC, and a channel that is closed when the process ends.
func startLimited(t *testing.T, program, files string) (httpAddr, grpcAddr string, ended <-chan struct{}) {
	t.Helper()
	httpAddr, grpcAddr = freeAddr(t), freeAddr(t)
	//nolint:gosec // of this test
	cmd := exec.Command("sh", "-c", `ulimit -n "$0" && exec "$@"`, files, program, "--dev", "--data-dir", filepath.Join(t.TempDir(), "data"),
		"--http-addr", httpAddr, "--grpc-addr", grpcAddr, "--raft-addr", freeAddr(t), "--gossip-addr", freeAddr(t))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the test kills it, or reports that it ended
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-done
	})
	return httpAddr, grpcAddr, done
}

// Idle connections use up no descriptors that the storage engine needs: the node goes on, and still
// serves a client that was there before.
func TestIdleConnectionsDoNotEndTheNode(t *testing.T) {
	program := buildDaemon(t)
	t.Run("too few to start with", func(t *testing.T) { refusesFewDescriptors(t, program) })
	httpAddr, grpcAddr, ended := startLimited(t, program, "256")
	one := &http.Client{Timeout: 10 * time.Second}
	put := func(key string) error {
		r, err := http.NewRequestWithContext(t.Context(), "PUT", "http://"+httpAddr+"/v1/values/"+key, strings.NewReader(strings.Repeat("v", 1<<20)))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "text/plain")
		answer, err := one.Do(r)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is used again
		return answer.Body.Close()
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := put("first")
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the node does not serve: %v", err)
		}
	}
	for i := range 400 {
		to := httpAddr
		if i%2 == 1 {
			to = grpcAddr
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
		cancel()
		if err == nil { // the backlog may be full
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	for i := range 40 { // flushes and compactions open files
		select {
		case <-ended:
			t.Fatal("the node has ended")
		default:
		}
		if err := put(string(rune('a' + i%26))); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
	}
}

// refusesFewDescriptors fails the test unless a node that could not keep its files open ends at once.
func refusesFewDescriptors(t *testing.T, program string) {
	t.Helper()
	_, _, ended := startLimited(t, program, "100")
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the node runs with 100 descriptors")
	}
}
