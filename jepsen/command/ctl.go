package command

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/httpclient"
)

// Run executes dormctl with arguments and an input. It returns what the program wrote to
// stdout and to stderr, and its exit code; an error means that it did not start or was
// killed.
type Run func(ctx context.Context, stdin []byte, args ...string) (stdout, stderr []byte, code int, err error)

// Ctl is the program dormctl as a service. A commit is "dormctl commit"; reads are single
// ones of values, checkpoints and threads.
type Ctl struct {
	Run Run
	ID  string // begins the request ids; unique to the process

	last atomic.Uint64
}

// The exit codes of dormctl after which a change was not made, and that of success. After any other
// code it may have been made.
const (
	ExitOK          = 0
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitUnavailable = 5
)

// Commit runs "dormctl commit -".
func (c *Ctl) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	body, err := httpclient.CommitBody(commit)
	if err != nil {
		return agent.Result{}, err
	}
	args := []string{"commit", "-", "--request-id", fmt.Sprintf("%s/%d", c.ID, c.last.Add(1))}
	out, err := c.run(ctx, true, commit.Scope, body, args...)
	if err != nil {
		return agent.Result{}, err
	}
	return httpclient.Committed(commit.Ops, out)
}

// Read runs the command of the only read.
func (c *Ctl) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if len(r.Reads) != 1 || r.Stale {
		return agent.Answers{}, agent.Errorf(agent.CodeInvalid, "dormctl makes one read at a time, and no stale one here")
	}
	var name string
	var args []string
	switch read := r.Reads[0].(type) {
	case *agent.GetValue:
		name, args = "get_value", []string{"values", "get", read.Key}
	case *agent.GetCheckpoint:
		name, args = "get_checkpoint", []string{"checkpoints", "get", read.Key}
	default:
		return agent.Answers{}, agent.Errorf(agent.CodeInvalid, "dormctl is not used for a %T", read)
	}
	out, err := c.run(ctx, false, r.Scope, nil, args...)
	if err != nil {
		return agent.Answers{}, err
	}
	found, err := httpclient.Found(name, out)
	if err != nil {
		return agent.Answers{}, agent.Errorf(agent.CodeInternal, "dormctl %v wrote what does not fit: %v: %.200s", args, err, out)
	}
	return agent.Answers{Answers: []agent.Answer{{Found: found}}}, nil
}

// Watch is refused.
func (*Ctl) Watch(context.Context, agent.Watch) iter.Seq2[agent.Event, error] { return noWatch }

// Close implements io.Closer.
func (*Ctl) Close() error { return nil }

func noWatch(yield func(agent.Event, error) bool) {
	yield(agent.Event{}, agent.Errorf(agent.CodeInvalid, "this client has no watches"))
}

// exitGrace is how long before its caller's deadline the program gives up, so that its
// exit code is the outcome.
const exitGrace = 500 * time.Millisecond

// run runs a command and turns its exit code into an error.
func (c *Ctl) run(ctx context.Context, effect bool, scope string, stdin []byte, args ...string) ([]byte, error) {
	most := 10 * time.Second
	if end, bounded := ctx.Deadline(); bounded {
		most = max(100*time.Millisecond, time.Until(end)-exitGrace)
	}
	args = append(args, "-o", "json", "--scope", scope, "--timeout", strconv.FormatInt(most.Milliseconds(), 10)+"ms")
	stdout, stderr, code, err := c.Run(ctx, stdin, args...)
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnknown, "dormctl %s: %v", args[0], err)
	}
	return stdout, exited(code, stderr, effect)
}

// exited returns the error that an exit code and an error document tell. The exit code
// decides the outcome, and the document has the details.
func exited(code int, stderr []byte, effect bool) error {
	if code == ExitOK {
		return nil
	}
	var doc struct {
		Error struct {
			Code        agent.Code `json:"code"`
			Message     string     `json:"message"`
			Rev         uint64     `json:"rev"`
			Head        string     `json:"head"`
			Revision    uint64     `json:"revision"`
			Seq         uint64     `json:"seq"`
			Incarnation uint64     `json:"incarnation"`
			Epoch       uint64     `json:"epoch"`
			Holder      string     `json:"holder"`
		} `json:"error"`
	}
	_ = json.Unmarshal(stderr, &doc) // a killed program may have written half of it
	d := doc.Error
	e := &agent.Error{
		Code: d.Code, Detail: d.Message, Op: -1, Rev: d.Rev, Head: d.Head, Revision: d.Revision, Seq: d.Seq, Incarnation: d.Incarnation, Epoch: d.Epoch, Holder: d.Holder,
	}
	told := agent.Refused
	switch code {
	case ExitUsage, ExitNotFound, ExitConflict, ExitUnavailable:
	default: // 6 says that the outcome is unknown, and no other code says that nothing was applied
		told = agent.Undecided
	}
	switch is := agent.OutcomeOf(e); {
	case told == agent.Undecided && effect:
		return agent.Errorf(agent.CodeUnknown, "exit code %d: %s: %s", code, d.Code, d.Message)
	case e.Code == "" || is != agent.Refused: // the code says what the document does not
		return agent.Errorf(agent.CodeUnavailable, "exit code %d: %s", code, stderr)
	default:
		return e
	}
}
