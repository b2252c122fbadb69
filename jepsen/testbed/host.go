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

// Host is a machine for one node, or for a program (see Programs). Its name stays; its
// node may get another one (Rename). All methods may be called concurrently.
type Host struct {
	bed   *Bed
	name  string
	place place
	space *packet.Namespace // namespace of its processes
	web   *http.Client      // for requests to its node
	dir   string            // everything but its log
	data  string
	disk  *disk.Disk   // nil if it has a plain directory
	clock *clock.Clock // nil if there is none; see Clock

	program []string // the command of its program; nil if it is for a node

	mu      sync.Mutex
	node    string   // guarded by mu; id of its node
	process *process // guarded by mu; the newest; nil before the first Start
	old     bool     // guarded by mu; Start starts the previous build
	apart   string   // guarded by mu; data directory of a cluster of its own; see Apart
	group   *cgroup  // guarded by mu; nil if its memory is not bounded; see Confine
}

// Name returns the host's name: n1, n2, … of nodes, and p1, p2, … of programs.
func (h *Host) Name() string { return h.name }

// Node returns the id of the node on the host: its name, unless it was renamed.
func (h *Host) Node() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.node
}

// Rename gives the node a new id from the next Start on. It is for a host whose data
// was wiped and whose node must join again.
func (h *Host) Rename(fresh string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.node = fresh
}

// Previous reports whether Start starts the node with the previous build.
func (h *Host) Previous() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.old
}

// UsePrevious selects the build that Start starts the node with.
func (h *Host) UsePrevious(old bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.old = old
}

// HTTP returns the address of the node's HTTP API.
func (h *Host) HTTP() string { return h.place.on(httpPort) }

// GRPC returns the address of the node's gRPC API.
func (h *Host) GRPC() string { return h.place.on(grpcPort) }

// Raft returns the node's address for other nodes.
func (h *Host) Raft() string { return h.place.on(raftPort) }

// Gossip returns the node's gossip address.
func (h *Host) Gossip() string { return h.place.on(gossipPort) }

// DataDir returns the node's data directory.
func (h *Host) DataDir() string { return h.data }

// Disk returns the host's disk, or nil if it cannot be made to fail.
func (h *Host) Disk() *disk.Disk { return h.disk }

// Clock returns the host's wall clock, or nil if the host uses the machine's.
func (h *Host) Clock() *clock.Clock {
	if !h.bed.can[CanClock] {
		return nil
	}
	return h.clock
}

// LogPath returns the path of the log of the host's nodes, which contains all runs one
// after another.
func (h *Host) LogPath() string { return filepath.Join(h.bed.options.Dir, h.name+".log") }

// Start starts the node on the host's data. It does not wait until the node is ready.
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
	if h.group != nil {
		h.group.begin(cmd)
	}
	p, err := launch(h.space, h.LogPath(), cmd, func(p *process) { h.bed.options.OnExit(h.name, p.detail) })
	if err != nil {
		return fmt.Errorf("start %s: %w", h.name, err)
	}
	h.process = p
	if h.group != nil {
		h.group.await(p)
	}
	return nil
}

// command returns the command of the host's process. The caller holds mu.
func (h *Host) command() *exec.Cmd {
	if h.program != nil {
		return exec.Command(h.program[0], h.programArgs()...)
	}
	if h.old {
		return exec.Command(h.bed.options.Previous, h.args()...)
	}
	return exec.Command(h.bed.binary, h.args()...)
}

// args returns the command line of the host's node. It is the same for all nodes but
// for the name, the addresses and the join list, and it never changes. So a node that
// lost its disk restarts with the settings that it founded the cluster with.
func (h *Host) args() []string {
	data := h.DataDir()
	if h.apart != "" {
		data = h.apart
	}
	args := []string{
		"--node-id", h.node, "--data-dir", data, "--cluster-key-file", h.bed.keyPath(clusterKeyFile), "--root-token-file", h.bed.keyPath(rootTokenFile),
		"--http-addr", h.HTTP(), "--grpc-addr", h.GRPC(), "--raft-addr", h.Raft(), "--gossip-addr", h.Gossip(),
	}
	if h.apart != "" {
		return args
	}
	args = append(args, "--expect", strconv.Itoa(h.bed.options.Nodes))
	for _, other := range h.bed.Hosts() {
		if other != h {
			args = append(args, "--join", other.Raft())
		}
	}
	return args
}

// current returns the newest process, or nil before the first.
func (h *Host) current() *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.process
}

// PID returns the process id of the running node, or 0.
func (h *Host) PID() int {
	if p := h.current(); p != nil && p.running() {
		return p.cmd.Process.Pid
	}
	return 0
}

// Running reports whether the node's process exists, paused or not.
func (h *Host) Running() bool { return h.PID() != 0 }

// Exit returns the exit code of the last process, or -1 if a signal ended it. ok is
// false while a process runs and before the first one.
func (h *Host) Exit() (code int, ok bool) {
	p := h.current()
	if p == nil || p.running() {
		return 0, false
	}
	return p.code, true
}

// dieMax bounds the wait for a killed process. A write that hangs in a broken disk
// delays the end for longer.
const dieMax = 20 * time.Second

// Kill kills the node and waits until it has ended. It does nothing if the node does
// not run.
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

// Terminate sends SIGTERM to the node and waits until it has ended.
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

// Pause stops the node's process; Resume continues it.
func (h *Host) Pause() error { return h.send("pause", syscall.SIGSTOP) }

// Resume continues a paused process.
func (h *Host) Resume() error { return h.send("resume", syscall.SIGCONT) }

func (h *Host) send(what string, s syscall.Signal) error {
	p := h.current()
	if p == nil || !p.running() {
		return fmt.Errorf("%s %s: the process does not run", what, h.name)
	}
	if err := p.signal(s); err != nil {
		return fmt.Errorf("%s %s: %w", what, h.name, err)
	}
	return nil
}

// readyEvery is the interval of Ready's probes.
const readyEvery = 50 * time.Millisecond

// Ready waits until the node reports that it is ready. It returns an error when ctx or
// the process ends.
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

// probe asks the node once.
func (h *Host) probe(ctx context.Context) error {
	_, err := h.get(ctx, "/readyz")
	if problem := (*statusError)(nil); errors.As(err, &problem) && problem.code == http.StatusServiceUnavailable {
		return errors.New(problem.text)
	}
	return err
}
