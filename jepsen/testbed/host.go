package testbed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"dormouse/jepsen/testbed/clock"
	"dormouse/jepsen/testbed/disk"
	"dormouse/jepsen/testbed/packet"
)

// Host is a machine for one node, or for a program (Programs). Its name stays; the node on it may be given
// another (Rename). All methods may be called concurrently.
type Host struct {
	bed   *Bed
	name  string
	place place
	space *packet.Namespace // that its processes are started in
	web   *http.Client      // asks its node
	dir   string            // all but its log
	data  string
	disk  *disk.Disk   // nil where it has a plain one
	clock *clock.Clock // nil where none was to be had; see Clock

	program []string // the command of its program; nil where it is for a node

	mu      sync.Mutex
	node    string   // id of its node
	process *process // the newest; nil before the first Start
}

// Name is the host's: n1, n2, …, and p1, p2, … of programs.
func (h *Host) Name() string { return h.name }

// Node is the id of the node on the host: its name, unless it was renamed.
func (h *Host) Node() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.node
}

// Rename gives the node a new id, for a host whose data was wiped and that is
// to join again. It holds from the next Start on.
func (h *Host) Rename(fresh string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.node = fresh
}

// HTTP is the address of the node's HTTP API.
func (h *Host) HTTP() string { return h.place.on(httpPort) }

// GRPC is the address of its gRPC API.
func (h *Host) GRPC() string { return h.place.on(grpcPort) }

// Raft is its address for other nodes.
func (h *Host) Raft() string { return h.place.on(raftPort) }

// Gossip is its address for gossip.
func (h *Host) Gossip() string { return h.place.on(gossipPort) }

// DataDir is where its node keeps its data.
func (h *Host) DataDir() string { return h.data }

// Disk is the host's disk; nil where nothing can be done to it.
func (h *Host) Disk() *disk.Disk { return h.disk }

// Clock is the host's wall clock; nil where it is the machine's.
func (h *Host) Clock() *clock.Clock {
	if !h.bed.can[CanClock] {
		return nil
	}
	return h.clock
}

// LogPath is the file with what its nodes have said, all runs one after
// another.
func (h *Host) LogPath() string { return filepath.Join(h.bed.options.Dir, h.name+".log") }

// Start starts the node on the host's data. It does not wait until the node is
// ready.
func (h *Host) Start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start %s: %w", h.name, context.Cause(ctx))
	}
	if err := h.bed.enter(); err != nil {
		return fmt.Errorf("start %s: %w", h.name, err)
	}
	defer h.bed.leave()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.process != nil && h.process.running() {
		return fmt.Errorf("start %s: it runs already", h.name)
	}
	cmd := h.command()
	cmd.Env = h.env()
	p, err := launch(h.space, h.LogPath(), cmd, func(p *process) { h.bed.options.OnExit(h.name, p.detail) })
	if err != nil {
		return fmt.Errorf("start %s: %w", h.name, err)
	}
	h.process = p
	return nil
}

// command is what runs on the host.
func (h *Host) command() *exec.Cmd {
	if h.program != nil {
		return exec.Command(h.program[0], h.programArgs()...)
	}
	return exec.Command(h.bed.binary, h.args()...)
}

// args is the command line of its node: the same for all nodes and for good,
// but for the name, the addresses and the node's own place in the join list. So
// a node that lost its disk comes back with what it founded the cluster with.
func (h *Host) args() []string {
	args := []string{
		"--node-id", h.node, "--data-dir", h.DataDir(), "--insecure",
		"--http-addr", h.HTTP(), "--grpc-addr", h.GRPC(), "--raft-addr", h.Raft(), "--gossip-addr", h.Gossip(),
	}
	args = append(args, "--expect", strconv.Itoa(h.bed.options.Nodes))
	for _, other := range h.bed.Hosts() {
		if other != h {
			args = append(args, "--join", other.Raft())
		}
	}
	return args
}

// current is the newest process; nil before the first.
func (h *Host) current() *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.process
}

// PID is the process id of the running node, 0 where none runs.
func (h *Host) PID() int {
	if p := h.current(); p != nil && p.running() {
		return p.cmd.Process.Pid
	}
	return 0
}

// Running reports whether the node's process is there, paused or not.
func (h *Host) Running() bool { return h.PID() != 0 }

// Exit is the exit code of the last process, -1 where a signal ended it. It is
// not ok while one runs, nor before the first.
func (h *Host) Exit() (code int, ok bool) {
	p := h.current()
	if p == nil || p.running() {
		return 0, false
	}
	return p.code, true
}

// dieMax is how long a killed process may take to be gone. A write that hangs
// in a broken disk holds it for longer.
const dieMax = 20 * time.Second

// Kill ends the node at once and waits until it is gone. One that does not run
// is fine.
func (h *Host) Kill() error {
	p := h.current()
	if p == nil {
		return nil
	}
	if err := p.signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", h.name, err)
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(dieMax):
		return fmt.Errorf("kill %s: process %d is still there after %v: heal its disk first", h.name, p.cmd.Process.Pid, dieMax)
	}
}

// Terminate asks the node to stop in order, and waits until it has.
func (h *Host) Terminate(ctx context.Context) error {
	p := h.current()
	if p == nil {
		return nil
	}
	if err := errors.Join(p.signal(syscall.SIGTERM), p.signal(syscall.SIGCONT)); err != nil {
		return fmt.Errorf("stop %s: %w", h.name, err)
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", h.name, context.Cause(ctx))
	}
}

// Pause stops the node's process in its tracks; Resume lets it go on.
func (h *Host) Pause() error { return h.send("pause", syscall.SIGSTOP) }

// Resume undoes Pause.
func (h *Host) Resume() error { return h.send("resume", syscall.SIGCONT) }

func (h *Host) send(what string, s syscall.Signal) error {
	p := h.current()
	if p == nil || !p.running() {
		return fmt.Errorf("%s %s: it does not run", what, h.name)
	}
	if err := p.signal(s); err != nil {
		return fmt.Errorf("%s %s: %w", what, h.name, err)
	}
	return nil
}

// readyEvery is how often Ready asks.
const readyEvery = 50 * time.Millisecond

// Ready waits until the node says that it is ready to serve. It gives up when
// ctx ends or the process does.
func (h *Host) Ready(ctx context.Context) error {
	var last error
	for {
		last = h.probe(ctx)
		if last == nil {
			return nil
		}
		p := h.current()
		if p == nil {
			return fmt.Errorf("%s is not ready: it was not started", h.name)
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s is not ready: its process ended: %s (see %s)", h.name, p.detail, h.LogPath())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %w", h.name, context.Cause(ctx), last)
		case <-time.After(readyEvery):
		}
	}
}

// probe asks once.
func (h *Host) probe(ctx context.Context) error {
	_, err := h.get(ctx, "/readyz")
	if problem := (*statusError)(nil); errors.As(err, &problem) && problem.code == http.StatusServiceUnavailable {
		return errors.New(problem.text)
	}
	return err
}
