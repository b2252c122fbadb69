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
)

// call is one request on its way to an answer.
//
// A parameter that does not parse is kept in err: commit and read refuse with
// it before anything is asked of the service. So handlers read parameters
// without checking each.
type call struct {
	front *front
	route *route
	r     *http.Request // its context ends at the call's deadline, or with the connection
	w     *writer
	query url.Values

	timeout  time.Duration
	scope    string
	fence    *agent.Fence
	request  agent.Request
	ifMatch  *uint64 // what If-Match or If-None-Match asks for
	idemKey  string
	err      error
	releases []func()
}

// end gives back what the call holds.
func (c *call) end() {
	for _, release := range c.releases {
		release()
	}
}

// id is a segment of the path, decoded.
func (c *call) id(name string) string {
	id := c.r.PathValue(name)
	if id == slashID {
		return "/"
	}
	return id
}

// fail keeps the first fault among the parameters.
func (c *call) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// optional is a query parameter that is a number; nil where it is absent.
func (c *call) optional(name string) *uint64 {
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

// number is a query parameter that is a number; 0 where it is absent.
func (c *call) number(name string) uint64 {
	if n := c.optional(name); n != nil {
		return *n
	}
	return 0
}

// text is a query parameter as it stands.
func (c *call) text(name string) string {
	if !c.route.takes(name) {
		panic("rest: " + c.route.id + " does not declare the query parameter " + name)
	}
	return c.query.Get(name)
}

// flag is a query parameter that is true or false.
func (c *call) flag(name string) bool {
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

// duration is a query parameter in milliseconds.
func (c *call) duration(name string) time.Duration {
	d, err := document.Duration(name, c.number(name))
	if err != nil {
		c.fail(err)
	}
	return d
}

// page is the page of a list that the query asks for.
func (c *call) page() agent.Page {
	return agent.Page{Prefix: c.text("prefix"), After: c.text("after"), Limit: c.number("limit")}
}

// commit makes one commit of the ops, under the call's scope, fence and
// request id.
func (c *call) commit(ops ...agent.Op) (agent.Result, error) {
	if c.err != nil {
		return agent.Result{}, c.err
	}
	result, err := c.front.service.Commit(c.r.Context(), agent.Commit{
		Scope:   c.scope,
		Request: c.request,
		Fence:   c.fence,
		Ops:     ops,
	})
	if err != nil {
		return agent.Result{}, writeOutcome(err)
	}
	if len(result.Results) != len(ops) {
		return agent.Result{}, agent.Errorf(agent.CodeInternal, "%d ops came to %d results", len(ops), len(result.Results))
	}
	c.at(result.Index)
	return result, nil
}

// resultOf is what op i came to.
func resultOf[T agent.OpResult](result agent.Result, i int) (T, error) {
	got, ok := result.Results[i].(T)
	if !ok {
		return got, agent.Errorf(agent.CodeInternal, "op %d came to a %T, not a %T", i, result.Results[i], got)
	}
	return got, nil
}

// readAll asks several things at one index, as the query says.
func (c *call) readAll(asked ...agent.Read) (agent.Answers, error) {
	stale, minIndex := c.flag("stale"), c.number("min_index")
	if c.err != nil {
		return agent.Answers{}, c.err
	}
	return c.ask(agent.Reads{Scope: c.scope, Stale: stale, MinIndex: minIndex, Reads: asked})
}

// ask asks several things at one index.
func (c *call) ask(asked agent.Reads) (agent.Answers, error) {
	answers, err := c.front.service.Read(c.r.Context(), asked)
	if err != nil {
		return agent.Answers{}, readOutcome(err)
	}
	if len(answers.Answers) != len(asked.Reads) {
		return agent.Answers{}, agent.Errorf(agent.CodeInternal, "%d reads came to %d answers", len(asked.Reads), len(answers.Answers))
	}
	c.at(answers.Index)
	if answers.Node != "" {
		c.w.Header().Set(headerNode, answers.Node)
	}
	if asked.Stale {
		c.w.Header().Set(headerAge, strconv.FormatInt(answers.AgeMS, 10))
	}
	return answers, nil
}

// read asks one thing, as the query says.
func read[T agent.Found](c *call, asked agent.Read) (T, error) {
	answers, err := c.readAll(asked)
	return only[T](asked, answers, err)
}

// readNow asks one thing on behalf of a call that is no read itself.
func readNow[T agent.Found](c *call, asked agent.Read) (T, error) {
	answers, err := c.ask(agent.Reads{Scope: c.scope, Reads: []agent.Read{asked}})
	return only[T](asked, answers, err)
}

// only is the one answer that there is.
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
		return found, agent.Errorf(agent.CodeInternal, "%T came to a %T, not a %T", asked, answers.Answers[0].Found, found)
	}
	return found, nil
}

// at notes the index that the answer is of.
func (c *call) at(index uint64) {
	c.w.Header().Set(headerIndex, strconv.FormatUint(index, 10))
}

// writeOutcome makes sure that a write which ran out of time is unknown.
func writeOutcome(err error) error {
	var coded *agent.Error
	if !errors.As(err, &coded) && outOfTime(err) {
		return agent.Errorf(agent.CodeUnknown, "the outcome was not known in time; retry with the same Idempotency-Key")
	}
	return err
}

// readOutcome makes sure that a read which ran out of time is unavailable.
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
