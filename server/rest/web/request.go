package web

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

// Request is one HTTP request until it is answered.
//
// Invalid parameters set err: commit and read return it before they call the service. So handlers
// read parameters without checking each.
type Request struct {
	API     *API
	Route   *Route
	Context context.Context //nolint:containedctx // of the call: ends at its deadline, or with the connection
	HTTP    *http.Request
	Writer  *Writer
	Query   url.Values

	timeout  time.Duration
	base     context.Context //nolint:containedctx // of the call, without its timeout
	Scope    string
	Fence    *agent.Fence
	Request  agent.Request
	ifMatch  *uint64 // the revision in If-Match or If-None-Match
	IdemKey  string
	Err      error
	cancel   context.CancelFunc
	received int64 // bytes for the body that are counted as in flight
}

// startTimeout starts the time that the call may take. It starts again once the body has arrived, which
// has deadlines of its own. A stream has none.
func (c *Request) startTimeout() {
	if !c.Route.Streams {
		c.cancel()
		c.Context, c.cancel = context.WithTimeout(c.base, c.timeout)
	}
}

// NeedTime makes the timeout of a call at least d, unless its caller gave one.
func (c *Request) NeedTime(d time.Duration) {
	if c.timeout < d && c.HTTP.Header.Get(headerTimeout) == "" {
		c.timeout = d
		c.startTimeout()
	}
}

// end releases the resources of the request.
func (c *Request) end() {
	c.cancel()
	c.API.bytes.Give(c.Writer.caller(), c.received)
}

// ID returns a decoded segment of the path.
func (c *Request) ID(name string) string { return idIn(c.HTTP, name) }

// idIn returns a decoded segment of the path of a request.
func idIn(r *http.Request, name string) string {
	id := r.PathValue(name)
	if id == slashID {
		return "/"
	}
	return id
}

// Fail keeps the first invalid parameter.
func (c *Request) Fail(err error) {
	if c.Err == nil {
		c.Err = err
	}
}

// Optional returns a numeric query parameter; nil if it is absent.
func (c *Request) Optional(name string) *uint64 {
	text := c.Text(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		c.Fail(agent.Invalid(name, "%s is %q, and should be a whole number from 0 to 2^64-1", name, text))
		return nil
	}
	return &n
}

// Number returns a numeric query parameter; 0 if it is absent.
func (c *Request) Number(name string) uint64 {
	if n := c.Optional(name); n != nil {
		return *n
	}
	return 0
}

// Text returns a query parameter as sent.
func (c *Request) Text(name string) string {
	if !c.Route.takes(name) {
		panic("web: " + c.Route.ID + " does not declare the query parameter " + name)
	}
	return c.Query.Get(name)
}

// Flag returns a boolean query parameter.
func (c *Request) Flag(name string) bool {
	switch text := c.Text(name); text {
	case "true", "1":
		return true
	case "", "false", "0":
		return false
	default:
		c.Fail(agent.Invalid(name, "%s is %q, and should be true or false", name, text))
		return false
	}
}

// Duration returns a query parameter in milliseconds.
func (c *Request) Duration(name string) time.Duration {
	d, err := document.Duration(name, c.Number(name))
	if err != nil {
		c.Fail(err)
	}
	return d
}

// Commit commits the ops with the request's scope, fence and request id.
func (c *Request) Commit(ops ...agent.Op) (agent.Result, error) {
	if c.Err != nil {
		return agent.Result{}, c.Err
	}
	result, err := c.API.Service.Commit(c.Context, agent.Commit{
		Scope:   c.Scope,
		Request: c.Request,
		Fence:   c.Fence,
		Ops:     ops,
	})
	if err = document.ErrorOf(ops, WriteOutcome(err)); err != nil {
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
	c.At(result.Index)
	return result, nil
}

// ResultOf returns the result of op i.
func ResultOf[T agent.OpResult](result agent.Result, i int) (T, error) {
	got, ok := result.Results[i].(T)
	if !ok {
		return got, agent.Errorf(agent.CodeInternal, "the result of op %d is a %T, not a %T", i, result.Results[i], got)
	}
	return got, nil
}

// ReadAll answers several reads at one index, with the query's stale and min_index.
func (c *Request) ReadAll(asked ...agent.Read) (agent.Answers, error) {
	stale, minIndex := c.Flag("stale"), c.Number("min_index")
	if c.Err != nil {
		return agent.Answers{}, c.Err
	}
	return c.ask(agent.Reads{Scope: c.Scope, Stale: stale, MinIndex: minIndex, Reads: asked})
}

// ask answers several reads at one index.
func (c *Request) ask(asked agent.Reads) (agent.Answers, error) {
	answers, err := c.API.Service.Read(c.Context, asked)
	if err != nil {
		return agent.Answers{}, ReadOutcome(err)
	}
	if len(answers.Answers) != len(asked.Reads) {
		return agent.Answers{}, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(asked.Reads), len(answers.Answers))
	}
	c.At(answers.Index)
	if answers.Node != "" {
		c.Writer.set(headerNode, answers.Node)
	}
	if asked.Stale {
		c.Writer.set(headerAge, strconv.FormatInt(answers.AgeMS, 10))
	}
	return answers, nil
}

// Read answers one read, with the query's stale and min_index.
func Read[T agent.Found](c *Request, asked agent.Read) (T, error) {
	answers, err := c.ReadAll(asked)
	return only[T](asked, answers, err)
}

// ReadNow answers one read for a request that is not a read itself.
func ReadNow[T agent.Found](c *Request, asked agent.Read) (T, error) {
	answers, err := c.ask(agent.Reads{Scope: c.Scope, Reads: []agent.Read{asked}})
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

// At sets the header with the index of the answer.
func (c *Request) At(index uint64) {
	c.Writer.set(headerIndex, strconv.FormatUint(index, 10))
}

// WriteOutcome converts the timeout of a write to an error with code unknown.
func WriteOutcome(err error) error {
	var coded *agent.Error
	if !errors.As(err, &coded) && outOfTime(err) {
		return agent.Errorf(agent.CodeUnknown, "the outcome was not known in time; retry with the same Idempotency-Key")
	}
	return err
}

// ReadOutcome converts the timeout of a read to an error with code unavailable.
func ReadOutcome(err error) error {
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
