package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// store is a cluster as dormctl sees it.
type store interface {
	agent.Service
	agent.Operator
	Instances() agent.Instances
	io.Closer
}

// app is one run of dormctl: its surroundings, and what the global flags say.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	terminal       bool                                  // stderr is one: progress may be drawn
	size           func() (width, height int, err error) // of stdout, where it is one; nil elsewhere
	dial           func(target) (store, error)
	self           string // the file of this program, which it runs again for workers

	endpoints string
	ca        string // files; "" means none
	clusterID string // of the cluster; "" means that of the first node that answers
	cert, key string
	scope     string
	timeout   time.Duration
	output    string
	stale     bool
	minIndex  uint64
	requestID string // of the commit; made up where none was given
	fence     fenceFlag
}

// main does what args say and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		a.output = outputIn(args, a.output) // a flag after the wrong one was not read
		return cli.FlagError(cmd, err)
	})
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		a.explain(err)
	}
	return exitCode(err)
}

// tell writes a line for people, apart from results. Where that cannot be done
// there is nobody to tell it to either.
func (a *app) tell(format string, args ...any) {
	_, _ = fmt.Fprintln(a.stderr, cli.Clean(fmt.Sprintf(format, args...)))
}

// with runs one call on the cluster, within the timeout.
func (a *app) with(cmd *cobra.Command, call func(ctx context.Context, s store) error) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), a.timeout)
	defer cancel()
	return a.stream(ctx, call)
}

// stream is with for what goes on until it is interrupted.
func (a *app) stream(ctx context.Context, call func(ctx context.Context, s store) error) (err error) {
	endpoints, err := a.endpointList()
	if err != nil {
		return err
	}
	s, err := a.open(endpoints, a.stale)
	if err != nil {
		return fmt.Errorf("dial %s: %w", a.endpoints, err)
	}
	defer func() {
		if closing := s.Close(); closing != nil && err == nil {
			err = fmt.Errorf("close the connection: %w", closing)
		}
	}()
	return call(ctx, s)
}

func (a *app) endpointList() ([]string, error) {
	var list []string
	for endpoint := range strings.SplitSeq(a.endpoints, ",") {
		if endpoint = strings.TrimSpace(endpoint); endpoint != "" {
			list = append(list, endpoint)
		}
	}
	if list == nil {
		return nil, cli.Usagef("--endpoints names no address: give the gRPC address of a node, such as %s", endpointsDefault)
	}
	return list, nil
}

// commit makes a commit of ops under a request id of its own, so that it can
// be repeated where its outcome stays unknown.
func (a *app) commit(ctx context.Context, s agent.Service, ops ...agent.Op) (agent.Result, error) {
	return a.submit(ctx, s, agent.Commit{Ops: ops})
}

func (a *app) submit(ctx context.Context, s agent.Service, c agent.Commit) (agent.Result, error) {
	if c.Scope == "" {
		c.Scope = a.scope
	}
	if err := a.fence.join(&c); err != nil {
		return agent.Result{}, err
	}
	if c.Request.Client == "" {
		c.Request = a.request()
	}
	result, err := s.Commit(ctx, c)
	if err != nil {
		return agent.Result{}, &commitError{request: c.Request, err: err}
	}
	return result, nil
}

// request is the id of a call that is made once: the one that was given, or a
// new one.
func (a *app) request() agent.Request {
	id := a.requestID
	if id == "" {
		id = uuid.NewString()
	}
	return agent.Request{Client: id, Seq: 1}
}

// commitError is a commit that did not return a result, and the request that
// would settle it.
type commitError struct {
	request agent.Request
	err     error
}

func (e *commitError) Error() string { return e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// resultOf is the result of a commit's op, which is of type T.
func resultOf[T agent.OpResult](r agent.Result, op int) (T, error) {
	var none T
	if op >= len(r.Results) {
		return none, fmt.Errorf("the answer has %d results, no result of op %d: is the node of another version?", len(r.Results), op)
	}
	t, ok := r.Results[op].(T)
	if !ok {
		return none, fmt.Errorf("the answer's result %d is a %T: is the node of another version?", op, r.Results[op])
	}
	return t, nil
}

// read asks several things at one index.
func (a *app) read(ctx context.Context, s agent.Service, reads ...agent.Read) (agent.Answers, error) {
	answers, err := s.Read(ctx, agent.Reads{Scope: a.scope, Stale: a.stale, MinIndex: a.minIndex, Reads: reads})
	if err != nil {
		return agent.Answers{}, err
	}
	if len(answers.Answers) != len(reads) {
		return agent.Answers{}, fmt.Errorf("%d answers to %d questions: is the node of another version?", len(answers.Answers), len(reads))
	}
	return answers, nil
}

// find asks one thing, whose answer is of type T.
func find[T agent.Found](ctx context.Context, a *app, s agent.Service, read agent.Read) (T, error) {
	var none T
	answers, err := a.read(ctx, s, read)
	if err != nil {
		return none, err
	}
	return foundIn[T](answers, 0)
}

// foundIn is what an answer found, which is of type T.
func foundIn[T agent.Found](answers agent.Answers, i int) (T, error) {
	var none T
	answer := answers.Answers[i]
	if answer.Err != nil {
		return none, answer.Err
	}
	found, ok := answer.Found.(T)
	if !ok {
		return none, fmt.Errorf("the answer is a %T: is the node of another version?", answer.Found)
	}
	return found, nil
}

// missing tells whether err says that something is not there.
func missing(err error) bool { return errors.Is(err, agent.ErrNotFound) }
