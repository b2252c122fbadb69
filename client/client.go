package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
)

// Client is a connection to a cluster, over any of its nodes. Dial creates it; all
// methods may be called concurrently. The embedded Scope has the calls on the scope of
// Options.Scope.
type Client struct {
	Scope
	o      Options
	pool   *pool
	owners *owners // nil if no addresses are learned
	reads  *semaphore.Weighted

	outcomes sync.Pool // of channels for the outcome of one call, which are empty

	commits *requestWindows
	signals *requestWindows // apart from the commits: a slow one must not hold back their numbers
	counters
}

var (
	_ agent.Submitter = (*Client)(nil)
	_ layout.Operator = (*Client)(nil)
)

// Dial returns a client of the cluster that the options or the environment name. It
// connects on first use, so it also succeeds while the cluster is down. An error means
// that an option or a file is invalid. Close must be called.
func Dial(o Options) (*Client, error) {
	o, err := o.filled()
	if err != nil {
		return nil, fmt.Errorf("dial dormouse: %w", err)
	}
	c := &Client{
		o: o, pool: newPool(o), reads: semaphore.NewWeighted(int64(o.InFlightMax)),
		commits: newRequestWindows(o.ClientID, o.InFlightMax, agent.RequestWindowMax),
		signals: newRequestWindows("signals/"+rand.Text(), agent.RequestWindowMax, signalWindowSpan),
	}
	if !o.Fixed {
		c.owners = newOwners(c.pool.conn)
	}
	c.Scope = In(c, o.Scope)
	return c, nil
}

// Close ends all calls and closes the connections; sent commits end as unknown. It
// returns after all goroutines of the client have ended.
func (c *Client) Close() error {
	c.pool.close()
	if c.owners != nil {
		c.owners.close()
	}
	return nil
}

// Submit starts a commit; see agent.Submitter. If the client has no free slot, it
// blocks until ctx ends.
func (c *Client) Submit(ctx context.Context, commit agent.Commit, done func(agent.Result, error)) {
	k, err := c.prepare(ctx, commit)
	if err != nil {
		done(agent.Result{}, err)
		return
	}
	k.done = done
	k.start()
}

// prepare returns the call of a commit, before it starts. If the client has no
// free slot, it blocks until ctx ends. An error means that nothing was sent.
func (c *Client) prepare(ctx context.Context, commit agent.Commit) (*call, error) {
	if commit.Scope == "" {
		commit.Scope = c.o.Scope
	}
	own := commit.Request.Client == "" && commit.Request.Seq == 0 && commit.Request.Low == 0
	if own { // a preliminary number, until there is a slot
		commit.Request.Client, commit.Request.Seq = c.o.ClientID, 1
	}
	// Validated here too: a message that cannot be encoded, such as invalid UTF-8,
	// would break the stream of all other calls.
	if err := commit.Validate(); err != nil {
		return nil, err
	}
	k := newCall(c, ctx, "dormouse commit")
	if err := k.admit(c.commits.slots); err != nil {
		return nil, err
	}
	if own {
		k.window, commit.Request.Seq, commit.Request.Low = c.commits.next()
		commit.Request.Client = k.window.client
	}
	k.commit = convert.CommitToProto(&commit)
	k.ttl = commit.Request.TTL
	return k, nil
}

// release ends the use of a commit's slot, and of its number if the client has given it one.
func (c *Client) release(k *call) {
	if k.window != nil {
		k.window.settle(k.commit.Request.Seq)
	}
	c.commits.slots.Release(1)
}

// Commit applies the ops of a commit, all or none, and returns one result for each; see
// agent.Service. agent.OutcomeOf returns what an error says about the outcome. After an unknown outcome
// the bytes of the ops may still be read for a moment: do not change them. Scope.Apply is shorter for ops
// in the client's scope.
func (c *Client) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	k, err := c.prepare(ctx, commit)
	if err != nil {
		return agent.Result{}, err
	}
	// Not agent.Await: when ctx ends, the call knows whether the commit was sent.
	o := k.wait()
	return o.result, o.failure()
}

// Read answers reads at one index of the log; see agent.Service. The error of a single
// read is in its Answer, which FoundIn returns. Scope.Read is shorter for linearizable
// reads: call it as c.Scope.Read.
func (c *Client) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if r.Scope == "" {
		r.Scope = c.o.Scope
	}
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	k := newCall(c, ctx, "dormouse read")
	if err := k.admit(c.reads); err != nil {
		return agent.Answers{}, err
	}
	defer c.reads.Release(1)
	k.read = convert.ReadsToProto(&r)
	o := k.wait()
	return o.answers, o.failure()
}

// bounded returns ctx with the client's timeout, if ctx has no deadline.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.o.Timeout)
}

// waitForNode waits for a connection for a stream, as long as any call waits. An error means that
// nothing was sent.
func (c *Client) waitForNode(ctx context.Context) (*usedConn, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	return c.pool.wait(ctx)
}

// neverSent returns the error of a call that ended before it was sent.
func neverSent(cause error) *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "never sent: %v", cause)
}
