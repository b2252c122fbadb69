package system

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Process is a program that was started. All methods may be called
// concurrently.
type Process struct {
	Command []string
	Dir     string // of its data

	cmd    *exec.Cmd
	log    string
	exited chan struct{} // closed once it was reaped
	stop   os.Signal     // asks it to end
	heirs  bool          // processes outside of its group are its own to end
}

// spec is a process to be started.
type spec struct {
	command []string
	dir     string              // of its data
	log     string              // file for what it says
	as      *syscall.Credential // who it runs as; nil means us
	stop    os.Signal           // asks it to end; nil means SIGTERM
	heirs   bool                // it has processes outside of its group, which end with it where it is asked
}

// launch starts a process. It has a group of its own, since whoever interrupts
// us from a terminal leaves it to us to end it; and it dies with us.
func launch(s spec) (*Process, error) {
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open a log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own by then
	p := &Process{Command: s.command, Dir: s.dir, log: s.log, exited: make(chan struct{}), stop: s.stop, heirs: s.heirs}
	if p.stop == nil {
		p.stop = syscall.SIGTERM
	}
	p.cmd = exec.Command(s.command[0], s.command[1:]...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = log, log, "/"
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Credential: s.as}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.command[0], err)
	}
	go func() {
		_ = p.cmd.Wait() // what matters of its end is that it came
		close(p.exited)
	}()
	return p, nil
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Running reports whether it has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Kill ends the process and its group at once, and waits for it.
func (p *Process) Kill() error {
	if !p.Running() {
		return nil
	}
	if err := syscall.Kill(-p.PID(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %s: %w", p.Command[0], err)
	}
	<-p.exited
	return nil
}

// stopMax is how long an orderly end may take.
const stopMax = time.Minute

// Stop ends the process in order, and waits for it.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(p.stop); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.Command[0], err)
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopMax):
		return errors.Join(fmt.Errorf("%s did not stop within %v", p.Command[0], stopMax), p.Kill())
	}
}

// end ends the process and all that it started, as soon as can be: its data is
// of no further use.
func (p *Process) end() error {
	if p.heirs {
		return p.Stop()
	}
	return p.Kill()
}

// Restart starts the same command on the same data, after its end.
func (p *Process) Restart() (*Process, error) {
	return launch(spec{command: p.Command, dir: p.Dir, log: p.log, as: p.cmd.SysProcAttr.Credential, stop: p.stop, heirs: p.heirs})
}

// LastWords is the end of what the process said.
func (p *Process) LastWords() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	const most = 500
	raw = bytes.TrimSpace(raw)
	return strings.ToValidUTF8(string(raw[max(0, len(raw)-most):]), "?")
}

// freePorts are n ports of loopback that nobody listens on.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // all at once, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
