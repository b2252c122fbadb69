package disk

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guard is a small process that outlives this one if it is killed, and removes its
// mounts then.
type guard struct {
	command *exec.Cmd
	line    io.WriteCloser // its end is the end of this process
}

// guardScript waits for a line of input. If the input ends without one, it detaches
// the given mounts.
const guardScript = `read -r word || exec umount -l "$@" 2>/dev/null`

// watchOver starts a guard for mount points, the innermost first.
func watchOver(mounts []string) (*guard, error) {
	command := exec.Command("/bin/sh", append([]string{"-c", guardScript, "sh"}, mounts...)...)
	// The guard must survive a terminal's interrupt and the end of this process's
	// group.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Dir = "/"
	line, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start a guard over %v: %w", mounts, err)
	}
	return &guard{command: command, line: line}, nil
}

// dismiss ends the guard and keeps the mounts.
func (g *guard) dismiss() error {
	_, err := io.WriteString(g.line, "done\n")
	return errors.Join(err, g.line.Close(), g.command.Wait())
}
