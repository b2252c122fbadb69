package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/seededbug"
)

// request is one HTTP request until it is answered.
//
// Invalid parameters set err: commit and read return it before they call the service. So handlers
// read parameters without checking each.
type request struct {
	api   *api
	route *route
	ctx   context.Context //nolint:containedctx // of the call: ends at its deadline, or with the connection
	r     *http.Request
	w     *writer
	query url.Values

	timeout  time.Duration
	scope    string
	fence    *agent.Fence
	request  agent.Request
	ifMatch  *uint64 // the revision in If-Match or If-None-Match
	idemKey  string
	err      error
	cancel   context.CancelFunc
	received int64 // bytes for the body that are counted as in flight
}

// end releases the resources of the request.
func (c *request) end() {
	c.cancel()
	c.api.bytes.Give(c.w.caller(), c.received)
}

// id returns a decoded segment of the path.
func (c *request) id(name string) string {
	id := c.r.PathValue(name)
	if id == slashID {
		return "/"
	}
	return id
}

// fail keeps the first invalid parameter.
func (c *request) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// optional returns a numeric query parameter; nil if it is absent.
func (c *request) optional(name string) *uint64 {
	text := c.text(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		c.fail(agent.Invalid(name, "%s is %q, and should be a whole number from 0 to 2^64-1", name, text))
		return nil
	}
	return &n
}

// number returns a numeric query parameter; 0 if it is absent.
func (c *request) number(name string) uint64 {
	if n := c.optional(name); n != nil {
		return *n
	}
	return 0
}

// text returns a query parameter as sent.
func (c *request) text(name string) string {
	if !c.route.takes(name) {
		panic("rest: " + c.route.id + " does not declare the query parameter " + name)
	}
	return c.query.Get(name)
}

// flag returns a boolean query parameter.
func (c *request) flag(name string) bool {
	switch text := c.text(name); text {
	case "true", "1":
		return true
	case "", "false", "0":
		return false
	default:
		c.fail(agent.Invalid(name, "%s is %q, and should be true or false", name, text))
		return false
	}
}

// duration returns a query parameter in milliseconds.
func (c *request) duration(name string) time.Duration {
	d, err := document.Duration(name, c.number(name))
	if err != nil {
		c.fail(err)
	}
	return d
}

// commit commits the ops with the request's scope, fence and request id.
func (c *request) commit(ops ...agent.Op) (agent.Result, error) {
	if c.err != nil {
		return agent.Result{}, c.err
	}
	result, err := c.api.service.Commit(c.ctx, agent.Commit{
		Scope:   c.scope,
		Request: c.request,
		Fence:   c.fence,
		Ops:     ops,
	})
	if err = document.ErrorOf(ops, writeOutcome(err)); err != nil {
		switch unknown := agent.CodeOf(err) == agent.CodeUnknown; {
		case unknown && seededbug.Is(seededbug.HTTP200ForUnknown):
			return pretended(ops), nil
		case unknown && seededbug.Is(seededbug.HTTPTimeoutAsRefused):
			return agent.Result{}, agent.Errorf(agent.CodeUnavailable, "no answer in time")
		}
		return agent.Result{}, err
	}
	if len(result.Results) != len(ops) {
		return agent.Result{}, agent.Errorf(agent.CodeInternal, "%d ops have %d results", len(ops), len(result.Results))
	}
	c.at(result.Index)
	return result, nil
}

// resultOf returns the result of op i.
func resultOf[T agent.OpResult](result agent.Result, i int) (T, error) {
	got, ok := result.Results[i].(T)
	if !ok {
		return got, agent.Errorf(agent.CodeInternal, "the result of op %d is a %T, not a %T", i, result.Results[i], got)
	}
	return got, nil
}

// readAll answers several reads at one index, with the query's stale and min_index.
func (c *request) readAll(asked ...agent.Read) (agent.Answers, error) {
	stale, minIndex := c.flag("stale"), c.number("min_index")
	if c.err != nil {
		return agent.Answers{}, c.err
	}
	return c.ask(agent.Reads{Scope: c.scope, Stale: stale, MinIndex: minIndex, Reads: asked})
}

// ask answers several reads at one index.
func (c *request) ask(asked agent.Reads) (agent.Answers, error) {
	answers, err := c.api.service.Read(c.ctx, asked)
	if err != nil {
		return agent.Answers{}, readOutcome(err)
	}
	if len(answers.Answers) != len(asked.Reads) {
		return agent.Answers{}, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(asked.Reads), len(answers.Answers))
	}
	c.at(answers.Index)
	if answers.Node != "" {
		c.w.set(headerNode, answers.Node)
	}
	if asked.Stale {
		c.w.set(headerAge, strconv.FormatInt(answers.AgeMS, 10))
	}
	return answers, nil
}

// read answers one read, with the query's stale and min_index.
func read[T agent.Found](c *request, asked agent.Read) (T, error) {
	answers, err := c.readAll(asked)
	return only[T](asked, answers, err)
}

// readNow answers one read for a request that is not a read itself.
func readNow[T agent.Found](c *request, asked agent.Read) (T, error) {
	answers, err := c.ask(agent.Reads{Scope: c.scope, Reads: []agent.Read{asked}})
	return only[T](asked, answers, err)
}

// only returns the only answer.
func only[T agent.Found](asked agent.Read, answers agent.Answers, err error) (T, error) {
	var found T
	if err != nil {
		return found, err
	}
	if refusal := answers.Answers[0].Err; refusal != nil {
		return found, refusal
	}
	found, ok := answers.Answers[0].Found.(T)
	if !ok {
		return found, agent.Errorf(agent.CodeInternal, "the answer to %T is a %T, not a %T", asked, answers.Answers[0].Found, found)
	}
	return found, nil
}

// at sets the header with the index of the answer.
func (c *request) at(index uint64) {
	c.w.set(headerIndex, strconv.FormatUint(index, 10))
}

// writeOutcome converts the timeout of a write to an error with code unknown.
func writeOutcome(err error) error {
	var coded *agent.Error
	if !errors.As(err, &coded) && outOfTime(err) {
		return agent.Errorf(agent.CodeUnknown, "the outcome was not known in time; retry with the same Idempotency-Key")
	}
	return err
}

// readOutcome converts the timeout of a read to an error with code unavailable.
func readOutcome(err error) error {
	var coded *agent.Error
	ended := !errors.As(err, &coded) && outOfTime(err)
	if ended || agent.CodeOf(err) == agent.CodeUnknown {
		return agent.Errorf(agent.CodeUnavailable, "no answer in time")
	}
	return err
}

func outOfTime(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
