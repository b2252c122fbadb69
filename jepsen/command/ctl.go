package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/httpclient"
)

// Run executes dormctl with arguments and an input. What the program writes to stdout goes to a writer as it comes. It
// returns what the program wrote to stderr, and its exit code; an error means that it did not start or was killed.
type Run func(ctx context.Context, stdin []byte, stdout io.Writer, args ...string) (stderr []byte, code int, err error)

// Ctl is the program dormctl as a service. Every other commit of one op is the command of that op, if there is one, and
// the others are "dormctl commit". Reads are single ones of values, checkpoints, claims, threads, sessions, memories and
// reviews; watches are of threads and changes.
type Ctl struct {
	Run   Run
	ID    string        // begins the request ids; unique to the process
	Reads agent.Service // makes the reads that dormctl has no command for, of several things at one index

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

// Commit runs the command of the only op, or "dormctl commit -".
func (c *Ctl) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	number := c.last.Add(1)
	body, err := httpclient.CommitBody(commit)
	if err != nil {
		return agent.Result{}, err
	}
	args, decode := arguments{"commit", "-"}, func(out []byte) (agent.Result, error) { return httpclient.Committed(commit.Ops, out) }
	if number%2 == 0 {
		if call, result, is := httpclient.CommitAlone(commit); is {
			if own := argsOf(commit.Ops[0]); own != nil {
				args, decode, body = own, result, inputOf(commit.Ops[0], call.Body)
				if f := commit.Fence; f != nil {
					args.text("fence", fmt.Sprintf("%s@%d", f.Claim, f.Epoch))
				}
			}
		}
	}
	args.text("request-id", fmt.Sprintf("%s/%d", c.ID, number))
	out, err := c.run(ctx, true, commit.Scope, body, args...)
	if err != nil {
		return agent.Result{}, err
	}
	result, err := decode(out)
	if err != nil {
		return agent.Result{}, agent.Errorf(agent.CodeInternal, "dormctl %v wrote what does not fit: %v: %.200s", args, err, out)
	}
	return result, nil
}

// inputOf returns the input of the command of an op, whose call over HTTP has a body.
func inputOf(op agent.Op, body []byte) []byte {
	switch op := op.(type) {
	case *agent.PutValue:
		return op.Bytes
	case *agent.PutCheckpoint:
		return op.State
	case *agent.AppendThread:
		var call struct {
			Entries json.RawMessage `json:"entries"`
		}
		if err := json.Unmarshal(body, &call); err != nil {
			panic(err) // cannot fail: the client made it
		}
		return call.Entries
	default:
		return nil
	}
}

// Read runs the command of the only read.
func (c *Ctl) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if len(r.Reads) != 1 || r.Stale {
		return c.Reads.Read(ctx, r)
	}
	args, name := readArgs(r.Reads[0])
	if args == nil {
		return c.Reads.Read(ctx, r)
	}
	out, err := c.run(ctx, false, r.Scope, nil, args...)
	var refused *agent.Error
	switch {
	case errors.As(err, &refused) && refused.Code == agent.CodeNotFound:
		return agent.Answers{Answers: []agent.Answer{{Err: refused}}}, nil
	case err != nil:
		return agent.Answers{}, err
	}
	found, err := httpclient.Found(name, out)
	if err != nil {
		return agent.Answers{}, agent.Errorf(agent.CodeInternal, "dormctl %v wrote what does not fit: %v: %.200s", args, err, out)
	}
	return agent.Answers{Answers: []agent.Answer{{Found: found}}}, nil
}

// Close implements io.Closer.
func (*Ctl) Close() error { return nil }

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
	var stdout bytes.Buffer
	stderr, code, err := c.Run(ctx, stdin, &stdout, args...)
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnknown, "dormctl %s: %v", args[0], err)
	}
	return stdout.Bytes(), exited(code, stderr, effect)
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
			Floor       uint64     `json:"floor"`
			Epoch       uint64     `json:"epoch"`
			Holder      string     `json:"holder"`
		} `json:"error"`
	}
	_ = json.Unmarshal(stderr, &doc) // a killed program may have written half of it
	d := doc.Error
	e := &agent.Error{
		Code: d.Code, Detail: d.Message, Op: -1, Rev: d.Rev, Head: d.Head, Revision: d.Revision, Seq: d.Seq, Incarnation: d.Incarnation, Floor: d.Floor, Epoch: d.Epoch, Holder: d.Holder,
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
