package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"dormouse/jepsen/testbed/packet"
)

// process is one run of dormoused or of a program.
type process struct {
	cmd    *exec.Cmd
	log    *os.File
	from   int64         // offset in log of its own output
	exited chan struct{} // closed once it was reaped; code and detail are set before
	code   int           // -1 if a signal ended it
	detail string        // in the format of history.EventExit
}

// launch starts the command from the namespace's thread and binds its life to that
// thread. It calls ended once the process was reaped.
func launch(from *packet.Namespace, logPath string, cmd *exec.Cmd, ended func(*process)) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the node's log: %w", err)
	}
	_, _ = fmt.Fprintf(log, "=== %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), strings.Join(cmd.Args, " "))
	at, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("write the node's log: %w", err)
	}
	p := &process{cmd: cmd, log: log, from: at, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = log, log
	// Its own process group keeps the terminal's interrupt away from it: the harness
	// stops its nodes only after it has recorded everything.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := from.Do(cmd.Start); err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go p.wait(ended)
	return p, nil
}

// wait reaps the process and records how it ended.
func (p *process) wait(ended func(*process)) {
	err := p.cmd.Wait()
	p.code = p.cmd.ProcessState.ExitCode()
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		p.detail = "killed"
	case status.Signaled():
		p.detail = fmt.Sprintf("ended by a signal: %v", status.Signal())
	default:
		p.detail = fmt.Sprintf("exit code %d", p.code)
	}
	if err != nil && p.detail != "killed" {
		if last := p.lastWords(); last != "" {
			p.detail += ": " + last
		}
	}
	_, _ = fmt.Fprintf(p.log, "=== %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), p.detail)
	_ = p.log.Close()
	ended(p)
	close(p.exited)
}

// lastWordsMax bounds the part of the log that lastWords searches.
const lastWordsMax = 64 << 10

// lastWords returns the line that explains the end of the process: the message of a
// panic, or else the last line of its log, less the one that points to the help.
func (p *process) lastWords() string {
	end, err := p.log.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	at := max(p.from, end-lastWordsMax)
	text := make([]byte, end-at)
	n, _ := p.log.ReadAt(text, at)
	text = bytes.TrimSpace(text[:n])
	for _, message := range []string{"panic: ", "fatal error: "} {
		if i := bytes.Index(text, []byte(message)); i >= 0 && (i == 0 || text[i-1] == '\n') {
			line, _, _ := bytes.Cut(text[i:], []byte("\n"))
			return string(line)
		}
	}
	lines := bytes.Split(text, []byte("\n"))
	if n := len(lines); n > 1 && bytes.Contains(lines[n-1], []byte(": see dormoused --help")) {
		lines = lines[:n-1]
	}
	return string(lines[len(lines)-1])
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// signal sends a signal. It does nothing if the process has ended.
func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to process %d: %w", s, p.cmd.Process.Pid, err)
	}
	return nil
}
