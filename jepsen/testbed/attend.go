package testbed

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Library returns the directory of the library for Python in this module, and an error if there is none, or no
// Python that can run it.
func Library(ctx context.Context) (dir string, err error) {
	out, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.version_info >= (3, 11))").Output()
	if err != nil || strings.TrimSpace(string(out)) != "True" {
		return "", fmt.Errorf("there is no python3 of version 3.11 or newer")
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(root, "sdk", "python")
	if _, err := os.Stat(filepath.Join(dir, "dormouse", "client.py")); err != nil {
		return "", fmt.Errorf("the library for Python is not there: %w", err)
	}
	return dir, nil
}
