package testbed

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Attendant is a program of the clients' host that makes calls for the harness.
type Attendant struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser
	cmd    *exec.Cmd
	log    *os.File
}

// Attend starts a program on the clients' host, with environment variables beside the harness's own. The variable
// authority names the certificate authority of the nodes, if they serve TLS. What the program writes to stderr is in the
// file of that name in the testbed's directory. It ends with the harness.
func Attend(b *Bed, name, authority string, env []string, command ...string) (*Attendant, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	log, err := os.OpenFile(filepath.Join(b.options.Dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("testbed: %w", err)
	}
	a := &Attendant{cmd: exec.Command(command[0], command[1:]...), log: log}
	a.cmd.Env, a.cmd.Stderr = append(b.bareEnv(), env...), log
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if b.TLS() != nil {
		a.cmd.Env = append(a.cmd.Env, authority+"="+b.keyPath(authorityFile))
	}
	start := a.cmd.Start
	if in := b.clients(); in != nil {
		a.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
		start = func() error { return in.Do(a.cmd.Start) }
	}
	if a.Stdin, err = a.cmd.StdinPipe(); err == nil {
		if a.Stdout, err = a.cmd.StdoutPipe(); err == nil {
			err = start()
		}
	}
	if err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return a, nil
}

// End kills the program, and waits for its end.
func (a *Attendant) End() error {
	_ = a.cmd.Process.Kill() // it may have ended
	_ = a.cmd.Wait()         // its exit code says nothing
	return a.log.Close()
}
