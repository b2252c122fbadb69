package system

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Process is a process that this package started. All methods may be called
// concurrently.
type Process struct {
	Command []string
	Dir     string // its data directory

	cmd     *exec.Cmd
	log     string
	environ []string
	exited  chan struct{} // closed once it was reaped
	stop    os.Signal     // signal for an orderly stop
	heirs   bool          // it has processes outside of its group, which it ends itself
}

// spec describes a process to start.
type spec struct {
	command []string
	environ []string            // added to this process's environment
	dir     string              // its data directory
	log     string              // file for its output
	as      *syscall.Credential // user to run as; nil means the current user
	stop    os.Signal           // signal for an orderly stop; nil means SIGTERM
	heirs   bool                // it has processes outside of its group, which it ends itself on an orderly stop
}

// launch starts a process in its own process group, so that a terminal's interrupt
// does not reach it. The process ends at the latest when this process ends.
func launch(s spec) (*Process, error) {
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open a log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own descriptor
	p := &Process{Command: s.command, Dir: s.dir, log: s.log, environ: s.environ, exited: make(chan struct{}), stop: s.stop, heirs: s.heirs}
	if p.stop == nil {
		p.stop = syscall.SIGTERM
	}
	p.cmd = exec.Command(s.command[0], s.command[1:]...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = log, log, "/"
	p.cmd.Env = append(os.Environ(), s.environ...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Credential: s.as}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.command[0], err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit status does not matter
		close(p.exited)
	}()
	return p, nil
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Running reports whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Kill kills the process and its group and waits for its end.
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

// Freeze stops the process and its group where they are, with SIGSTOP: to others it looks
// like a machine that vanishes without a word, since its connections stay open and nothing
// answers. Kill ends it.
func (p *Process) Freeze() error {
	if err := syscall.Kill(-p.PID(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freeze %s: %w", p.Command[0], err)
	}
	return nil
}

// stopMax bounds an orderly stop.
const stopMax = time.Minute

// Stop stops the process in order and waits for its end.
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

// end ends the process and its children as fast as possible, because its data is not
// needed any more.
func (p *Process) end() error {
	if p.heirs {
		return p.Stop()
	}
	return p.Kill()
}

// Restart starts the same command on the same data after the process has ended.
func (p *Process) Restart() (*Process, error) {
	return launch(spec{command: p.Command, environ: p.environ, dir: p.Dir, log: p.log, as: p.cmd.SysProcAttr.Credential, stop: p.stop, heirs: p.heirs})
}

// LastWords returns the end of the process's output.
func (p *Process) LastWords() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	const most = 500
	raw = bytes.TrimSpace(raw)
	return strings.ToValidUTF8(string(raw[max(0, len(raw)-most):]), "?")
}
