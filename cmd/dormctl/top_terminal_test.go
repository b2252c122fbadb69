package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/config"
	"dormouse/node/nodetest"
)

// terminal is a dormctl process in a terminal of its own.
type terminal struct {
	t      *testing.T
	tty    *os.File // the process writes to the other end
	mu     sync.Mutex
	screen *vt.Emulator // guarded by mu, but for Read
	ended  chan error
	cmd    *exec.Cmd
	alt    atomic.Bool // the alternate screen is shown
	before *term.State
	own    *os.File // the process's end
}

// inTerminal starts dormctl, as a process, in a terminal.
func inTerminal(t *testing.T, width, height int, env []string, args ...string) *terminal {
	t.Helper()
	tty, own, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(own, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(own.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, tty: tty, own: own, before: before, screen: vt.NewEmulator(width, height), ended: make(chan error, 1), cmd: exec.Command(self, args...)}
	s.screen.SetCallbacks(vt.Callbacks{AltScreen: s.alt.Store})
	s.cmd.Env = append(os.Environ(), append([]string{asMainEnv + "=1", "TERM=xterm-256color"}, env...)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = own, own, own
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	var copies sync.WaitGroup
	copies.Go(func() { _, _ = io.Copy(s, tty) })
	copies.Go(func() { _, _ = io.Copy(tty, s.screen) }) // what the terminal answers to questions of the program
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = own.Close()
		_ = tty.Close()
		_ = s.screen.InputPipe().(io.Closer).Close()
		copies.Wait()
	})
	return s
}

// Write writes output of the process to the screen.
func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Write(p)
}

// text returns what the screen shows.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// coloured reports whether the screen shows the cyan of the sparklines.
func (s *terminal) coloured() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.screen.Render(), "\x1b[36m")
}

// resize changes the size of the terminal.
func (s *terminal) resize(width, height int) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen.Resize(width, height)
	if err := pty.Setsize(s.own, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		s.t.Fatal(err)
	}
}

// shows waits until the screen shows all texts.
func (s *terminal) shows(texts ...string) {
	s.t.Helper()
	s.until(fmt.Sprintf("it does not show %q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (s *terminal) until(otherwise string, is func(screen string) bool) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(s.text()); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-s.ended:
			s.t.Fatalf("dormctl ended (%v); %s:\n%s", err, otherwise, s.text())
		default:
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s:\n%s", otherwise, s.text())
		}
	}
}

// press types keys.
func (s *terminal) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// restored waits until the process has ended without an error, and checks that the terminal is as
// it was before.
func (s *terminal) restored() {
	s.t.Helper()
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("dormctl ended with %v:\n%s", err, s.text())
		}
	case <-time.After(30 * time.Second):
		s.t.Fatalf("dormctl does not end:\n%s", s.text())
	}
	if state, err := term.GetState(int(s.own.Fd())); err != nil || *state != *s.before {
		s.t.Errorf("the terminal's modes are not restored: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); s.alt.Load(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the alternate screen is still shown:\n%s", s.text())
		}
	}
}

// watched starts a node with something on each page of top.
func watched(t *testing.T) *nodetest.Node {
	t.Helper()
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Auth: true, Configure: func(c *config.Config) {
		c.HTTP.Addr, c.GRPC.Addr = unused(t), unused(t) // top dials what the members advertise
		c.HTTP.Advertise, c.GRPC.Advertise = c.HTTP.Addr, c.GRPC.Addr
		c.Log.SlowCall = time.Nanosecond
	}})
	ctx := t.Context()
	for _, name := range []string{"greeter", "planner"} {
		if _, err := n.PutManager(ctx, agent.PutManager{Manager: agent.Manager{Name: name, Handler: agent.Handler{Kind: agent.HandlerDocument}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.Instances().Signal(ctx, agent.InstanceRef{Manager: "greeter", Key: "anna"}, agent.Signal{Type: "patch"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Commit(ctx, agent.Commit{Ops: []agent.Op{
		&agent.PutSession{Session: "talk-1", SessionSettings: agent.SessionSettings{}, Agent: "anna"},
		&agent.PutTimer{Timer: agent.Timer{Manager: "planner", Key: "bob", ID: "nightly", Next: time.Now().Add(2 * time.Hour).UnixMilli()}},
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Commit(ctx, agent.Commit{Scope: "other", Ops: []agent.Op{&agent.PutSession{Session: "会話", Agent: "carl"}}}); err != nil {
		t.Fatal(err)
	}
	return n
}

// top in a terminal of 80×24 shows the pages, and does what the keys say.
func TestTopInATerminal(t *testing.T) {
	n := watched(t)
	s := inTerminal(t, 80, 24, []string{kit.TokenEnv + "=" + n.RootToken()}, "top", "--endpoints", n.GRPCAddr(), "--every", "100ms")
	s.shows("1 nodes", "NODE▲", "n1 *", "alive", "1 of 1 nodes alive", "q quit")
	s.shows("▁")
	if !s.coloured() {
		t.Error("there are no colours")
	}
	s.press("2")
	s.shows("MANAGER▲", "greeter", "planner", "2 rows")
	s.press("/plan")
	s.until("the filter has no effect", func(screen string) bool {
		return strings.Contains(screen, "1 of 2 rows") && !strings.Contains(screen, "greeter")
	})
	s.press("\x1b")
	s.shows("greeter", "2 rows")
	s.press("r")
	s.until("the order is not reversed", func(screen string) bool {
		return strings.Contains(screen, "MANAGER▼") && strings.Index(screen, "planner") < strings.Index(screen, "greeter")
	})
	s.press("\t")
	s.shows("SESSION▲", "talk-1", "会話", "carl", "default", "other")
	s.press("4")
	s.shows("DUE IN▲", "nightly", "planner/bob", "1h59m")
	s.press("5")
	s.shows("AGO▲")
	s.press("/PutSession\r") // the reads of the other pages are newer
	s.shows("commit", "PutSession", "/PutSession esc")
	s.press("?")
	s.shows("any key goes back")
	s.press("x")
	s.press("1")
	s.press("\x1b[C")
	s.shows("STATUS▲")
	s.press("p")
	s.shows("paused")
	s.press("q")
	s.restored()
}

// SIGTERM ends top, and the terminal is restored.
func TestTopRestoresTheTerminalAtSIGTERM(t *testing.T) {
	n := watched(t)
	s := inTerminal(t, 200, 50, []string{kit.TokenEnv + "=" + n.RootToken(), "NO_COLOR=1"}, "top", "--endpoints", n.GRPCAddr())
	s.shows("NODE▲", "PARTITIONS", "CRASHED", "n1 *", "▁")
	if !s.alt.Load() {
		t.Error("it does not use the alternate screen")
	}
	if s.coloured() {
		t.Error("there are colours, with NO_COLOR")
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.restored()
}

// A terminal that cannot move its cursor gets the nodes once.
func TestTopInADumbTerminal(t *testing.T) {
	n := watched(t)
	s := inTerminal(t, 200, 24, []string{kit.TokenEnv + "=" + n.RootToken(), "TERM=dumb"}, "top", "--endpoints", n.GRPCAddr(), "--every", "100ms")
	s.restored()
	s.until("it does not show the nodes", func(screen string) bool { return strings.Contains(screen, "n1 *   alive") })
}

// A terminal that grows shows more.
func TestTopFollowsTheSizeOfTheTerminal(t *testing.T) {
	n := watched(t)
	s := inTerminal(t, 60, 20, []string{kit.TokenEnv + "=" + n.RootToken()}, "top", "--endpoints", n.GRPCAddr())
	s.shows("NODE▲", "n1 *")
	if text := s.text(); strings.Contains(text, "LEAVING") {
		t.Errorf("60 columns show all of a node:\n%s", text)
	}
	s.resize(200, 40)
	s.shows("LEAVING", "CRASHED")
	s.press("q")
	s.restored()
}

// While the cluster does not answer, the last rows stay, and top says so and goes on.
func TestTopInATerminalSaysThatTheClusterDoesNotAnswer(t *testing.T) {
	n, err := nodetest.Open(nodetest.Options{Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	s := inTerminal(t, 80, 24, nil, "top", "--endpoints", n.GRPCAddr(), "--every", "100ms", "--timeout", "300ms")
	s.shows("NODE▲", "n1 *")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	s.shows("the cluster does not answer", "n1 *", "q quit")
	s.press("3")
	s.shows("list the sessions: ", "the cluster does not answer", "SESSION▲")
	s.press("q")
	s.restored()
}

// A cluster that does not answer at the beginning is an error, and the screen is left alone.
func TestTopInATerminalNeedsACluster(t *testing.T) {
	s := inTerminal(t, 80, 24, nil, "top", "--endpoints", unused(t), "--timeout", "200ms")
	if err := <-s.ended; err == nil {
		t.Error("it ends without an error")
	}
	s.until("it does not say why", func(screen string) bool { return strings.Contains(screen, "dormctl: ") })
	if s.alt.Load() {
		t.Error("it uses the alternate screen")
	}
}
