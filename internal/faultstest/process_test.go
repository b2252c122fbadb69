package faultstest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dormouse/cluster/keys"
	"dormouse/internal/modpath"
)

const (
	// waitMax bounds every wait; the events take a second or two.
	waitMax = 40 * time.Second
	// askEvery is the poll interval of a wait.
	askEvery = 20 * time.Millisecond
)

var (
	dormoused  string // the binary under test
	clusterKey string // file of the cluster key of all nodes
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "dormouse-faults-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir) //nolint:errcheck // the system cleans up too
		dormoused = filepath.Join(dir, "dormoused")
		clusterKey = filepath.Join(dir, "cluster.key")
		if err := keys.WriteFile(clusterKey, keys.New().Encode()); err != nil {
			fmt.Fprintln(os.Stderr, "write the cluster key:", err)
			return 1
		}
		for program, at := range map[string]string{"/cmd/node": dormoused, "/cmd/dormctl": filepath.Join(dir, "dormctl")} {
			build := exec.Command("go", "build", "-tags", "invariants,grpcnotrace", "-o", at, modpath.Path+program)
			build.Stdout, build.Stderr = os.Stderr, os.Stderr
			if err := build.Run(); err != nil {
				fmt.Fprintf(os.Stderr, "build %s: %v\n", program, err)
				return 1
			}
		}
		return m.Run()
	}())
}

// place is the configuration of one node, which can be started repeatedly.
type place struct {
	name, dir                string
	http, grpc, raft, gossip string
	how                      []string // flags: --bootstrap, --join
	environ                  []string
}

// newPlace returns a node's configuration, with a data directory and addresses of its
// own.
func newPlace(t *testing.T, name string, how ...string) *place {
	t.Helper()
	free := freeAddrs(t, 4)
	return &place{
		name: name, dir: filepath.Join(t.TempDir(), "data"),
		http: free[0], grpc: free[1], raft: free[2], gossip: free[3], how: how,
	}
}

// Ports below the ephemeral range, so that no outgoing connection takes a port between
// its choice and its use. Each port is used once.
const (
	portsFirst = 10000
	ports      = 20000
)

var (
	portsFrom  = rand.IntN(ports)
	portsGiven atomic.Int64
)

// freeAddrs returns loopback addresses without a listener.
func freeAddrs(t *testing.T, n int) []string {
	t.Helper()
	var addrs []string
	for range ports {
		if len(addrs) == n {
			return addrs
		}
		port := portsFirst + (portsFrom+int(portsGiven.Add(1)))%ports
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		addrs = append(addrs, l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("no port is free on loopback")
	return nil
}

// process is a started daemon.
type process struct {
	t     *testing.T
	name  string
	place *place
	cmd   *exec.Cmd
	said  transcript
	gone  chan struct{} // closed when it has ended
}

// transcript holds the output of a process.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// contains reports whether the process has said text.
func (w *transcript) contains(text string) bool { return strings.Contains(w.String(), text) }

// start starts the daemon; it ends with the test at the latest.
func (p *place) start(t *testing.T, more ...string) *process {
	t.Helper()
	args := append([]string{
		"--auth", "off",
		"--node-id", p.name, "--data-dir", p.dir, "--http-addr", p.http, "--grpc-addr", p.grpc,
		"--raft-addr", p.raft, "--gossip-addr", p.gossip,
	}, p.how...)
	return spawn(t, p, append(args, more...)...)
}

func spawn(t *testing.T, at *place, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: "dormoused", place: at, gone: make(chan struct{}), cmd: exec.Command(dormoused, args...)}
	p.cmd.Env = append(os.Environ(), "DORMOUSE_CLUSTER__TIMING=lan", "DORMOUSE_CLUSTER__KEY_FILE="+clusterKey)
	if at != nil {
		p.name, p.cmd.Env = at.name, append(p.cmd.Env, at.environ...)
	}
	return p.begin()
}

// begin starts the command; it ends with the test at the latest.
func (p *process) begin() *process {
	p.t.Helper()
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // ProcessState has the exit status
	}()
	p.t.Cleanup(func() {
		p.kill()
		if p.t.Failed() {
			p.t.Logf("%s said:\n%s", p.name, p.said.String())
		}
	})
	return p
}

// running reports whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// code waits for the end of the process and returns its exit code.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.gone:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(waitMax):
		p.t.Fatalf("%s has not ended after %v", p.name, waitMax)
		return -1
	}
}

// kill sends SIGKILL, and waits for the end.
func (p *process) kill() {
	if p.running() {
		_ = p.cmd.Process.Kill() // it may just have ended
	}
	<-p.gone
}

// stop asks the process to shut down, and waits for the end.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if code := p.code(); code != 0 {
		p.t.Fatalf("%s exited with %d when it was asked to stop:\n%s", p.name, code, p.said.String())
	}
}

// await polls until done returns true; it fails the test at once if the process has
// ended.
func (p *process) await(what string, done func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(waitMax); !done(); time.Sleep(askEvery) {
		if !p.running() {
			p.t.Fatalf("%s ended (%v) while waiting for %s", p.name, p.cmd.ProcessState, what)
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: waited %v for %s", p.name, waitMax, what)
		}
	}
}

// ready waits until the process serves.
func (p *process) ready() *process {
	p.t.Helper()
	p.await("readiness", func() bool { return status(p.t.Context(), "http://"+p.place.http+"/readyz") == http.StatusOK })
	return p
}

// status returns the status of a GET; 0 without an answer.
func status(ctx context.Context, url string) int {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_ = response.Body.Close() // only the status is needed
	return response.StatusCode
}

// exits fails the test unless the process ends with code, and its output contains each
// of words.
func (p *process) exits(code int, words ...string) {
	p.t.Helper()
	if got := p.code(); got != code {
		p.t.Errorf("exit code %d, want %d; it said:\n%s", got, code, p.said.String())
	}
	for _, word := range words {
		if !strings.Contains(p.said.String(), word) {
			p.t.Errorf("it did not say %q, but:\n%s", word, p.said.String())
		}
	}
}
