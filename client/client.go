package client

import (
	"context"
	"crypto/rand"
	"fmt"

	"golang.org/x/sync/semaphore"

	"dormouse/agent"
	"dormouse/api/convert"
)

// Client talks to a cluster. Make it with Dial; all methods may be called
// concurrently. The embedded Scope has the calls for everyday use.
type Client struct {
	Scope
	o      Options
	pool   *pool
	owners *owners // nil where no addresses are learned
	ledger *ledger
	reads  *semaphore.Weighted

	// Signals have a client id and numbers of their own: one that takes long
	// does not hold up what commits have settled.
	signaller string
	signals   *ledger
	counters
}

var (
	_ agent.Submitter = (*Client)(nil)
	_ agent.Operator  = (*Client)(nil)
)

// Dial makes a client. It connects when it is first used, so a cluster that
// is down does not make it fail. Close it.
func Dial(o Options) (*Client, error) {
	o, err := o.filled()
	if err != nil {
		return nil, fmt.Errorf("dial dormouse: %w", err)
	}
	c := &Client{
		o: o, pool: newPool(o), ledger: newLedger(o.InFlightMax),
		reads: semaphore.NewWeighted(int64(o.InFlightMax)), signaller: "signals/" + rand.Text(), signals: newLedger(o.InFlightMax),
	}
	if !o.Fixed {
		c.owners = newOwners(c.pool.conn)
	}
	c.Scope = Scope{service: c, name: o.Scope}
	return c, nil
}

// Close ends all calls, commits that were sent as unknown, and closes the
// connections. It returns once nothing of the client is left running.
func (c *Client) Close() error {
	c.pool.close()
	if c.owners != nil {
		c.owners.close()
	}
	return nil
}

// Submit starts a commit; see agent.Submitter. While the client is full it
// blocks, until ctx ends.
func (c *Client) Submit(ctx context.Context, commit agent.Commit, done func(agent.Result, error)) {
	if commit.Scope == "" {
		commit.Scope = c.o.Scope
	}
	own := commit.Request.Client == "" && commit.Request.Seq == 0 && commit.Request.Low == 0
	if own { // its number comes later, once there is room
		commit.Request.Client, commit.Request.Seq = c.o.ClientID, 1
	}
	// Judged here too: what cannot travel, such as invalid UTF-8, would break
	// the stream under everybody else's calls.
	if err := commit.Validate(); err != nil {
		done(agent.Result{}, err)
		return
	}
	k := newCall(c, ctx)
	if err := k.admit(c.ledger.slots); err != nil {
		done(agent.Result{}, err)
		return
	}
	if own {
		var err error
		if k.seq, commit.Request.Low, err = k.number(c.ledger); err != nil {
			c.ledger.slots.Release(1)
			done(agent.Result{}, err)
			return
		}
		commit.Request.Seq = k.seq
	}
	k.commit = convert.CommitToProto(&commit)
	k.ttl = commit.Request.TTL
	k.done = func(o outcome) {
		if k.seq != 0 {
			c.ledger.settle(k.seq)
		}
		c.ledger.slots.Release(1)
		done(o.result, o.failure())
	}
	k.start()
}

// Commit applies a commit; see agent.Service.
func (c *Client) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	// Not agent.Await: when ctx ends, Submit knows whether anything was sent.
	type settled struct {
		result agent.Result
		err    error
	}
	came := make(chan settled, 1)
	c.Submit(ctx, commit, func(r agent.Result, err error) { came <- settled{r, err} })
	s := <-came
	return s.result, s.err
}

// Read answers reads at one index; see agent.Service.
func (c *Client) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if r.Scope == "" {
		r.Scope = c.o.Scope
	}
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	k := newCall(c, ctx)
	if err := k.admit(c.reads); err != nil {
		return agent.Answers{}, err
	}
	defer c.reads.Release(1)
	came := make(chan outcome, 1)
	k.read = convert.ReadsToProto(&r)
	k.done = func(o outcome) { came <- o }
	k.start()
	o := <-came
	return o.answers, o.failure()
}

// bounded gives a context the deadline that it does not have.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.o.Timeout)
}

// neverSent is the error of a call that ended while it waited for room.
func neverSent(cause error) *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "never sent: %v", cause)
}
