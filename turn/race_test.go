package turn_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/node/nodetest"
	"dormouse/turn"
)

// A test binary with racerEnv set is one of two runners that race for session
// s. The variable has the node's address.
const (
	racerEnv = "TURN_TEST_RACER"
	racerHow = "TURN_TEST_RACER_HOW" // byHand or byRunner
	byHand   = "by hand"             // it commits under its lease without checking it
	byRunner = "by runner"
	racerTTL = agent.ClaimTTLMin
	heirTTL  = time.Minute // of the second runner, which is not stopped
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(racerEnv); addr != "" {
		if err := race(context.Background(), addr, os.Getenv(racerHow)); err != nil {
			fmt.Println("failed:", err)
		}
		return
	}
	os.Exit(m.Run())
}

// race runs the session's turn, or waits until it can recover it. It prints its
// progress, one line each, and waits after "running" for a line of input. Its
// entry has its own name.
func race(ctx context.Context, addr, how string) error {
	c, err := client.Dial(client.Options{Endpoints: []string{addr}})
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the process ends
	name := fmt.Sprint(os.Getpid())
	r := &racer{Client: c, runner: turn.Runner{Service: c, Owner: name, TTL: racerTTL}, name: name, how: how}
	claim := agent.ClaimSession{Session: "s", Owner: name, TTL: racerTTL, Request: &agent.SessionRequest{ID: "r1"}}
	err = r.run(ctx, func(f turn.Func) error {
		_, err := r.runner.Turn(ctx, "s", *claim.Request, f)
		return err
	}, &claim)
	if agent.CodeOf(err) == agent.CodeSessionAlreadyRunning {
		fmt.Println("waiting")
		for e, err := range c.Watch(ctx, agent.Watch{Claim: agent.SessionClaim("s")}) {
			if err != nil {
				return err
			}
			if !e.Claim.Held() {
				break
			}
		}
		r.runner.TTL = heirTTL
		err = r.run(ctx, func(f turn.Func) error {
			_, err := r.runner.Recover(ctx, "s", f)
			return err
		}, &agent.RecoverSession{Session: "s", Owner: name, TTL: heirTTL})
	}
	switch {
	case err == nil:
		fmt.Println("finished")
	case errors.Is(err, turn.ErrLost):
		fmt.Println("lost")
	default:
		fmt.Println("refused:", agent.CodeOf(err))
	}
	return nil
}

// racer is one of the two runners.
type racer struct {
	*client.Client
	runner    turn.Runner
	name, how string
}

func (r *racer) run(ctx context.Context, runner func(turn.Func) error, op agent.Op) error {
	entry := agent.Draft{Kind: r.name}
	if r.how == byRunner {
		return runner(func(t *turn.Turn) error {
			announce()
			t.Append("t", 0, entry)
			return nil
		})
	}
	result, err := r.Commit(ctx, agent.Commit{Ops: []agent.Op{op}})
	if err != nil {
		return err
	}
	row := result.Results[0].(*agent.SessionResult).Session
	announce()
	_, err = r.Commit(ctx, agent.Commit{Fence: row.Fence(), Ops: []agent.Op{
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{entry}},
		&agent.CommitSession{Session: "s", LeaseID: row.Lease.LeaseID, Owner: r.name, Status: agent.SessionFinished},
	}})
	return err
}

// announce prints that the turn runs, and waits for a line of input.
func announce() {
	fmt.Println("running")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// process is a racer's process.
type process struct {
	*testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startRacer(t *testing.T, addr, how string) *process {
	t.Helper()
	p := &process{T: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), racerEnv+"="+addr, racerHow+"="+how)
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // if the test failed
		_ = p.cmd.Wait()
	})
	return p
}

func (p *process) says() string {
	p.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.Fatalf("the racer says no more: %v", err)
	}
	return strings.TrimSpace(line)
}

func (p *process) signal(s syscall.Signal) {
	p.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.Fatal(err)
	}
}

// stop stops the process, and returns once it is stopped.
func (p *process) stop() {
	p.Helper()
	p.signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		p.Fatalf("the racer did not stop: %v, %v", status, err)
	}
}

func (p *process) tell() {
	p.Helper()
	if _, err := fmt.Fprintln(p.in, "go on"); err != nil {
		p.Fatal(err)
	}
}

// Two processes race for a session. The first is stopped past its lease, and
// continues after the second has recovered or ended the turn. Nothing of the
// first then applies.
func TestTheCommitOfARunnerThatWasStoppedPastItsLeaseIsRefused(t *testing.T) {
	for _, c := range []struct {
		how   string
		ended bool // the second has ended the turn before the first continues
		want  string
	}{
		{byHand, false, "refused: fenced"},
		{byHand, true, "refused: fenced"},
		{byRunner, false, "lost"},
		{byRunner, true, "lost"},
	} {
		t.Run(fmt.Sprintf("%s, ended=%t", c.how, c.ended), func(t *testing.T) {
			n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
			if _, err := n.StartSession(t.Context(), agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "t"}}); err != nil {
				t.Fatal(err)
			}
			first, second := startRacer(t, n.GRPCAddr(), c.how), startRacer(t, n.GRPCAddr(), c.how)
			if first.says() == "waiting" {
				first, second = second, first
				if said := first.says(); said != "running" {
					t.Fatalf("no racer runs: %q", said)
				}
			} else if said := second.says(); said != "waiting" {
				t.Fatalf("both run: %q", said)
			}
			first.stop()
			if said := second.says(); said != "running" {
				t.Fatalf("the second, once the lease has lapsed: %q", said)
			}
			if c.ended {
				second.tell()
				if said := second.says(); said != "finished" {
					t.Errorf("the second: %q", said)
				}
			}
			first.signal(syscall.SIGCONT)
			first.tell()
			if said := first.says(); said != c.want {
				t.Errorf("the first, which was stopped: %q, want %q", said, c.want)
			}
			if !c.ended {
				second.tell()
				if said := second.says(); said != "finished" {
					t.Errorf("the second: %q", said)
				}
			}
			onlyOneEnded(t, n, second)
		})
	}
}

// onlyOneEnded checks that the turn has one end, and one runner's entry.
func onlyOneEnded(t *testing.T, n *nodetest.Node, by *process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := n.GetSession(ctx, "s")
	if err != nil || s.Status != agent.SessionFinished || len(s.Requests) != 1 || s.Requests[0].Outcome != agent.RequestFinished {
		t.Errorf("the session: %+v, %v", s, err)
	}
	thread, err := n.Load(ctx, agent.LoadEntries{Thread: "t"})
	if err != nil || len(thread.Items) != 1 || thread.Items[0].Kind != fmt.Sprint(by.cmd.Process.Pid) {
		t.Errorf("the thread: %+v, %v", thread, err)
	}
}
