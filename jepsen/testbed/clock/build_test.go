package clock

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// teller is a program with the daemon's part of this package, that tells both
// its clocks for each line that it is given.
const teller = `package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

const exitConfig = 2

var start = time.Now()

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		now := time.Now()
		fmt.Println(now.UnixNano(), now.Sub(start).Nanoseconds())
	}
}
`

// The first time on a machine this compiles what the program needs of the
// standard library, which takes a minute; later some seconds.
func TestTheWallClockMovesAndTheMonotonicOneDoesNot(t *testing.T) {
	if os.Getenv("DORMJEPSEN_REAL") == "" {
		t.Skip("builds with another Go runtime: set DORMJEPSEN_REAL=1 to have that done")
	}
	if err := CanBuild(); err != nil {
		t.Skip(err)
	}
	c, err := Open(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	program := run(t, buildTeller(t), c.Setting())

	wall, mono := program.tell(t)
	if c.Reader() != program.Process.Pid {
		t.Errorf("the clock's reader is %d, not the program, %d", c.Reader(), program.Process.Pid)
	}
	var before time.Duration
	for _, offset := range []time.Duration{-time.Hour, time.Hour, 1500 * time.Millisecond, -time.Nanosecond, 0} {
		c.Set(offset)
		wallNow, monoNow := program.tell(t)
		passed := monoNow - mono
		if passed < 0 || passed > time.Minute {
			t.Errorf("the monotonic clock went on by %v", passed)
		}
		if moved := wallNow.Sub(wall) - passed; (moved - (offset - before)).Abs() > 100*time.Millisecond {
			t.Errorf("the wall clock moved by %v on its way from %v to %v", moved, before, offset)
		}
		wall, mono, before = wallNow, monoNow, offset
	}
}

func TestAProgramWhoseClockIsNotThereEnds(t *testing.T) {
	if os.Getenv("DORMJEPSEN_REAL") == "" {
		t.Skip("builds with another Go runtime: set DORMJEPSEN_REAL=1 to have that done")
	}
	command := exec.Command(buildTeller(t))
	command.Env = []string{Env + "=/nowhere/clock"}
	if out, err := command.CombinedOutput(); command.ProcessState.ExitCode() != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

func buildTeller(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	hook, err := os.ReadFile("../../../cmd/node/chaosclock.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module teller\n\ngo 1.26\n", "chaosclock.go": string(hook), "main.go": teller} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	took, err := build(t.Context(), dir, ".", filepath.Join(dir, "teller"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("built in %v", took)
	return filepath.Join(dir, "teller")
}

type program struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func run(t *testing.T, path, setting string) *program {
	t.Helper()
	command := exec.Command(path)
	command.Env = append(os.Environ(), setting)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &program{command, in, bufio.NewReader(out)}
}

// tell asks the program for its clocks.
func (p *program) tell(t *testing.T) (wall time.Time, mono time.Duration) {
	t.Helper()
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		t.Fatal(err)
	}
	var nanos int64
	if _, err := fmt.Fscanln(p.out, &nanos, &mono); err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, nanos), mono
}
