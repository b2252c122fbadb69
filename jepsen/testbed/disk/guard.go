package disk

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guard is a small process that outlives this one, should it be killed, and
// takes the mounts away that it leaves behind.
type guard struct {
	command *exec.Cmd
	line    io.WriteCloser // ends when this process does
}

// guardScript waits for a word. Where the line ends without one it detaches the
// mounts that it was given.
const guardScript = `read -r word || exec umount -l "$@" 2>/dev/null`

// watchOver starts a guard over mount points, the innermost first.
func watchOver(mounts []string) (*guard, error) {
	command := exec.Command("/bin/sh", append([]string{"-c", guardScript, "sh"}, mounts...)...)
	// Neither a terminal's interrupt nor the end of this process's group is
	// meant for it.
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

// dismiss ends the guard; the mounts stay.
func (g *guard) dismiss() error {
	_, err := io.WriteString(g.line, "done\n")
	return errors.Join(err, g.line.Close(), g.command.Wait())
}
