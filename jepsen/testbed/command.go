package testbed

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"dormouse/client"
	"dormouse/jepsen/testbed/packet"
)

// findCommand finds dormctl beside the given binary, or builds it.
func (b *Bed) findCommand(ctx context.Context) {
	if !b.options.Commands {
		return
	}
	if b.options.Binary != "" && HasCommand(b.binary) {
		b.ctl, b.can[CanCommand] = beside(b.binary), true
		return
	}
	b.options.Logf("building dormctl")
	root, err := ModuleRoot(ctx)
	out := filepath.Join(b.options.Bin, "dormctl")
	if err == nil {
		_, err = goCommand(ctx, root, "build", "-o", out, "./cmd/dormctl")
	}
	if err == nil {
		b.ctl = out
	}
	b.grant(CanCommand, err, "no command of dormctl is run")
}

func beside(binary string) string { return filepath.Join(filepath.Dir(binary), "dormctl") }

// HasCommand reports whether dormctl lies beside a dormoused.
func HasCommand(binary string) bool {
	if binary == "" {
		return false
	}
	_, err := os.Stat(beside(binary))
	return err == nil
}

// CommandError is the error of a command that ended with an exit code.
type CommandError struct {
	Code int    // -1 if a signal ended it
	Said string // what it wrote to stderr
}

func (e *CommandError) Error() string { return fmt.Sprintf("exit code %d: %s", e.Code, e.Said) }

// Command runs dormctl from the clients' host with addresses of nodes, as an operator
// with the root token. It returns what the command wrote to stdout.
func (b *Bed) Command(ctx context.Context, endpoints []string, stdin []byte, args ...string) ([]byte, error) {
	var stdout bytes.Buffer
	err := b.CommandTo(ctx, endpoints, stdin, &stdout, args...)
	return stdout.Bytes(), err
}

// CommandTo is Command that passes on what the command writes to stdout as it comes.
func (b *Bed) CommandTo(ctx context.Context, endpoints []string, stdin []byte, stdout io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, b.ctl, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(b.bareEnv(), client.EnvEndpoints+"="+strings.Join(endpoints, ","), client.EnvTokenFile+"="+b.keyPath(rootTokenFile))
	if b.TLS() != nil {
		cmd.Env = append(cmd.Env, client.EnvCA+"="+b.keyPath(authorityFile))
	}
	return execute(b, cmd, b.clients(), stdout)
}

// Offline runs a command of dormoused that needs no node, such as restore.
func (b *Bed) Offline(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.binary, args...)
	cmd.Env = b.bareEnv()
	var stdout bytes.Buffer
	err := execute(b, cmd, b.clients(), &stdout)
	return stdout.Bytes(), err
}

// clients returns the namespace of the clients' host.
func (b *Bed) clients() *packet.Namespace {
	if b.net == nil {
		return nil
	}
	return b.net.clients
}

// execute runs a command in a namespace; nil means the machine's own.
func execute(b *Bed, cmd *exec.Cmd, in *packet.Namespace, stdout io.Writer) error {
	if err := b.enter(); err != nil {
		return err
	}
	defer b.leave()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	start := cmd.Start
	if in != nil {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
		start = func() error { return in.Do(cmd.Start) }
	}
	if err := start(); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	if err := cmd.Wait(); err != nil {
		return &CommandError{Code: cmd.ProcessState.ExitCode(), Said: strings.TrimSpace(stderr.String())}
	}
	return nil
}
