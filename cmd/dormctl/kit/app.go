package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/internal/cli"
)

// Store is the connection to a cluster.
type Store interface {
	agent.Service
	layout.Operator
	Instances() agent.Instances
	WhoAmI(ctx context.Context) (access.Principal, error)
	io.Closer
}

// App is one run of dormctl: its environment and the values of the global flags.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Terminal       bool                                  // stderr is a terminal: progress may be drawn
	Size           func() (width, height int, err error) // of stdout if it is a terminal; otherwise nil
	Dial           func(Target) (Store, error)
	ConfigDir      func() (string, error) // of this user, for stored tokens; nil means none
	Self           string                 // path of this executable, which is run again for worker processes

	Command   string // the command that runs, such as "dormctl threads get"; for hints
	Endpoints string
	Ca        string // files; "" means none
	TokenFile string // "" means that the token comes from elsewhere
	Secret    string // a token that was just read; it comes before all others
	Insecure  bool   // send the token also without TLS to other machines
	ClusterID string // of the cluster; "" means that of the first node that answers
	Cert, Key string
	Scope     string
	Timeout   time.Duration
	Output    string
	Stale     bool
	MinIndex  uint64
	RequestID string // of the commit; generated if empty
	Fence     fenceFlag
}

// Tell writes a line for people to stderr. It ignores errors.
func (a *App) Tell(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Stderr, cli.Clean(fmt.Sprintf(format, args...)))
}

// With runs a call on the cluster, within the timeout.
func (a *App) With(cmd *cobra.Command, call func(ctx context.Context, s Store) error) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), a.Timeout)
	defer cancel()
	return a.Stream(ctx, call)
}

// Stream is With without a timeout, for commands that run until interrupted.
func (a *App) Stream(ctx context.Context, call func(ctx context.Context, s Store) error) (err error) {
	endpoints, err := a.EndpointList()
	if err != nil {
		return err
	}
	s, err := a.Open(endpoints, a.Stale)
	if err != nil {
		return fmt.Errorf("dial %s: %w", a.Endpoints, err)
	}
	defer func() {
		if closing := s.Close(); closing != nil && err == nil {
			err = fmt.Errorf("close the connection: %w", closing)
		}
	}()
	return call(ctx, s)
}

// EndpointList returns the addresses of --endpoints.
func (a *App) EndpointList() ([]string, error) {
	var list []string
	for endpoint := range strings.SplitSeq(a.Endpoints, ",") {
		if endpoint = strings.TrimSpace(endpoint); endpoint == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(endpoint); err != nil {
			return nil, cli.Usagef("--endpoints has %q: give the gRPC address of a node as host:port, such as %s", endpoint, EndpointsDefault)
		}
		list = append(list, endpoint)
	}
	if list == nil {
		return nil, cli.Usagef("--endpoints names no address: give the gRPC address of a node, such as %s", EndpointsDefault)
	}
	return list, nil
}

// Commit commits ops under a request id, so that the commit can be repeated if its
// outcome is unknown.
func (a *App) Commit(ctx context.Context, s agent.Service, ops ...agent.Op) (agent.Result, error) {
	return a.Submit(ctx, s, agent.Commit{Ops: ops})
}

// Submit commits c in the app's scope, under its fence and a request id.
func (a *App) Submit(ctx context.Context, s agent.Service, c agent.Commit) (agent.Result, error) {
	if c.Scope == "" {
		c.Scope = a.Scope
	}
	if err := a.Fence.join(&c); err != nil {
		return agent.Result{}, err
	}
	if c.Request.Client == "" {
		c.Request = a.Request()
	}
	result, err := s.Commit(ctx, c)
	if err != nil {
		return agent.Result{}, &CommitError{Request: c.Request, Err: document.ErrorOf(c.Ops, err)}
	}
	return result, nil
}

// Request returns the id of a call that is made once: that of --request-id, or a new
// one.
func (a *App) Request() agent.Request {
	id := a.RequestID
	if id == "" {
		id = uuid.NewString()
	}
	return agent.Request{Client: id, Seq: 1}
}

// CommitError is the error of a commit, with the request id under which it can be
// repeated.
type CommitError struct {
	Request agent.Request
	Err     error

	// Settle says what to do if the outcome is unknown. "" means to run the same command again with the request id,
	// which needs a command that makes the same commit each time.
	Settle string
}

func (e *CommitError) Error() string { return e.Err.Error() }
func (e *CommitError) Unwrap() error { return e.Err }

// ResultOf returns the result of a commit's op, as a T.
func ResultOf[T agent.OpResult](r agent.Result, op int) (T, error) {
	var none T
	if op >= len(r.Results) {
		return none, fmt.Errorf("the answer has %d results and none for op %d: does the node run another version?", len(r.Results), op)
	}
	t, ok := r.Results[op].(T)
	if !ok {
		return none, fmt.Errorf("the answer's result %d is a %T: does the node run another version?", op, r.Results[op])
	}
	return t, nil
}

// Read makes several reads at one index.
func (a *App) Read(ctx context.Context, s agent.Service, reads ...agent.Read) (agent.Answers, error) {
	answers, err := s.Read(ctx, agent.Reads{Scope: a.Scope, Stale: a.Stale, MinIndex: a.MinIndex, Reads: reads})
	if err != nil {
		return agent.Answers{}, err
	}
	if len(answers.Answers) != len(reads) {
		return agent.Answers{}, fmt.Errorf("%d answers to %d reads: does the node run another version?", len(answers.Answers), len(reads))
	}
	return answers, nil
}

// Find makes one read, and returns what it found as a T.
func Find[T agent.Found](ctx context.Context, a *App, s agent.Service, read agent.Read) (T, error) {
	var none T
	answers, err := a.Read(ctx, s, read)
	if err != nil {
		return none, err
	}
	return FoundIn[T](answers, 0)
}

// FoundIn returns what answer i found, as a T.
func FoundIn[T agent.Found](answers agent.Answers, i int) (T, error) {
	var none T
	answer := answers.Answers[i]
	if answer.Err != nil {
		return none, answer.Err
	}
	found, ok := answer.Found.(T)
	if !ok {
		return none, fmt.Errorf("the answer is a %T: does the node run another version?", answer.Found)
	}
	return found, nil
}

// Missing reports whether err has code not_found.
func Missing(err error) bool { return errors.Is(err, agent.ErrNotFound) }
