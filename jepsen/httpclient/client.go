package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

// Options are the options of a client.
type Options struct {
	URLs      func() []string // of the nodes that a call may use, at least one
	Token     string
	ID        string            // begins the idempotency keys; unique to the client
	Retries   bool              // repeat a call whose outcome is unknown, or that a node could not serve
	Transport http.RoundTripper // keeps connections alive

	Attempted func(ctx context.Context) // called for each attempt that got a connection; nil does nothing
}

// Client calls a cluster over HTTP. It is an agent.Service for the ops and reads that opDocument and
// readDocument know. All methods may be called concurrently.
type Client struct {
	o       Options
	web     *http.Client
	last    atomic.Uint64          // number of calls so far
	at      atomic.Uint64          // index of the URL that answered last
	cluster atomic.Pointer[string] // the id of the cluster that answered first
}

var _ agent.Service = (*Client)(nil)

// New returns a client.
func New(o Options) *Client { return &Client{o: o, web: &http.Client{Transport: o.Transport}} }

// Close closes the idle connections.
func (c *Client) Close() error {
	c.web.CloseIdleConnections()
	return nil
}

// In returns the calls on a scope.
func (c *Client) In(scope string) client.Scope { return client.In(c, scope) }

const (
	// attemptMax bounds one attempt. A node is told of it, and answers unknown at its end.
	attemptMax = 1500 * time.Millisecond
	// attemptGrace is how much longer the client waits than it told the node.
	attemptGrace = 500 * time.Millisecond
	// restMin and restMax bound the wait between two attempts.
	restMin, restMax = 50 * time.Millisecond, 500 * time.Millisecond
)

// Commit applies a commit. If it has one op with a call of its own, every other commit
// uses that call; the others are one POST /v1/commits.
func (c *Client) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	number := c.last.Add(1)
	a, err := commitRequest(commit, number%2 == 0)
	if err != nil {
		return agent.Result{}, err
	}
	a.key = fmt.Sprintf("%s/%d", c.o.ID, number)
	var result agent.Result
	a.decode = func(r *answer) error {
		var err error
		result, err = a.result(r)
		return err
	}
	err = c.call(ctx, &a.request, true)
	return result, err
}

// Read answers reads at one index.
func (c *Client) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	answers, partial, err := c.read(ctx, r, c.last.Add(1)%2 == 0)
	if partial {
		answers, _, err = c.read(ctx, r, false)
	}
	return answers, err
}

// read answers reads, with the call of the only one if alone is set. partial reports that its answer lacks the incarnation.
func (c *Client) read(ctx context.Context, r agent.Reads, alone bool) (answers agent.Answers, partial bool, err error) {
	a, err := readRequest(r, alone)
	if err != nil {
		return agent.Answers{}, false, err
	}
	a.decode = func(r *answer) error {
		var err error
		answers, err = a.answers(r)
		partial = errors.Is(err, ErrPartial)
		return err
	}
	err = c.call(ctx, &a.request, false)
	return answers, partial, err
}
