package rest

import (
	"context"
	"github.com/go-json-experiment/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/api/document"
)

const eventStream = "text/event-stream"

// watchEvents returns the kinds of events of a stream, with the one that any stream may end with.
func watchEvents(kinds map[string]any) map[string]any {
	kinds["problem"] = document.Problem{}
	return kinds
}

// watch streams the service's events.
func (c *request) watch(w agent.Watch) error {
	came, end := c.start(c.follow(w))
	defer end()
	return c.stream(came)
}

// start runs a feed, which passes its elements to tell until tell returns false; end stops it.
func (c *request) start(feed func(ctx context.Context, tell func(watched) bool)) (came <-chan watched, end func()) {
	ctx, cancel := context.WithCancel(c.ctx)
	elements, done := make(chan watched), make(chan struct{})
	go func() {
		defer close(done)
		defer close(elements)
		feed(ctx, func(next watched) bool {
			select {
			case elements <- next:
				return next.err == nil
			case <-ctx.Done():
				return false
			}
		})
	}()
	return elements, func() {
		cancel()
		<-done
	}
}

// openWatch reads the watched resource, within the request's timeout.
func (c *request) openWatch(asked agent.Read) (agent.Found, error) {
	whole := c.ctx
	defer func() { c.ctx = whole }()
	bounded, cancel := context.WithTimeout(whole, c.timeout)
	defer cancel()
	c.ctx = bounded
	return read[agent.Found](c, asked)
}

// watched is one element of a watch before it is streamed.
type watched struct {
	event    agent.Event
	instance *agent.InstanceEvent // instead of event, in a watch of instances
	err      error
}

// follow returns the feed of the service's events.
func (c *request) follow(w agent.Watch) func(context.Context, func(watched) bool) {
	return func(ctx context.Context, tell func(watched) bool) {
		for event, err := range c.api.service.Watch(ctx, w) {
			if !tell(watched{event: event, err: err}) {
				return
			}
		}
	}
}

// stream writes first the elements in already, then those of came, as events. While there are none
// it writes comments.
func (c *request) stream(came <-chan watched, already ...watched) error {
	c.w.Header().Set("Content-Type", eventStream)
	c.w.Header().Set("X-Accel-Buffering", "no") // buffering proxies would delay events
	if c.r.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	out := &events{w: c.w, control: http.NewResponseController(c.w)}
	if err := out.write(": the watch is open\n\n"); err != nil {
		return nil // the client has disconnected
	}
	endSpan(trace.SpanFromContext(c.ctx), c.r.Method, c.w) // not as long as the watch
	for _, first := range already {
		if last, err := out.send(first); last || err != nil {
			return nil
		}
	}
	quiet := time.NewTicker(keepWatchOpen)
	defer quiet.Stop()
	for {
		var last bool
		var err error
		select {
		case <-c.ctx.Done():
			return nil
		case <-c.api.closing:
			return nil // the client reconnects, here or to another node
		case <-quiet.C:
			err = out.write(": still here\n\n")
		case next, more := <-came:
			if !more {
				return nil
			}
			quiet.Reset(keepWatchOpen)
			last, err = out.send(next)
		}
		if last || err != nil {
			return nil
		}
	}
}

// events writes server-sent events.
type events struct {
	w       *writer
	control *http.ResponseController
}

// send writes one element and reports whether it was the last.
func (e *events) send(next watched) (last bool, err error) {
	switch {
	case next.err != nil:
		// The client resumes after its last seq.
		return true, e.event("problem", "", document.ProblemOf(readOutcome(next.err)))
	case next.instance != nil:
		return false, e.instance(next.instance)
	case next.event.Kind == agent.EventCompacted:
		return true, e.event("compacted", "", document.WatchEnd{Floor: &next.event.Floor})
	case next.event.Kind == agent.EventDeleted:
		return true, e.event("deleted", "", document.WatchEnd{})
	case next.event.Kind == agent.EventClaim:
		return false, e.event("claim", "", document.ClaimOf(next.event.Claim))
	case next.event.Kind == agent.EventChanges:
		return false, e.changes(next.event)
	default:
		return false, e.event("entry", strconv.FormatUint(next.event.Entry.Seq, 10), document.EntryOf(next.event.Entry))
	}
}

// event writes one event. JSON has no line breaks, so its data is one line.
func (e *events) event(kind, id string, data any) error {
	text, err := eventText(kind, id, data)
	if err != nil {
		return err
	}
	return e.write(text)
}

func eventText(kind, id string, data any) (string, error) {
	encoded, err := json.Marshal(data, verbatim)
	if err != nil {
		return "", fmt.Errorf("encode an event: %w", err)
	}
	text := "event: " + kind + "\ndata: " + string(encoded) + "\n\n"
	if id != "" {
		text = "id: " + id + "\n" + text
	}
	return text, nil
}

// write sends text at once.
func (e *events) write(text string) error {
	e.w.extend()
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.control.Flush()
}

// firstOf waits for the first element of a feed, within the request's timeout.
func firstOf(c *request, came <-chan watched) (watched, error) {
	late := time.NewTimer(c.timeout)
	defer late.Stop()
	select {
	case first, ok := <-came:
		switch {
		case !ok:
			return first, agent.Errorf(agent.CodeUnavailable, "the feed ended before it began: retry")
		case first.err != nil:
			return first, readOutcome(first.err)
		case first.event.Last():
			return first, agent.EndOfChanges(first.event)
		}
		return first, nil
	case <-c.api.closing:
	case <-c.ctx.Done():
	case <-late.C:
	}
	return watched{}, agent.Errorf(agent.CodeUnavailable, "the feed did not begin in time: retry")
}

// changes writes an event for each change, with its position as the id. Without changes it writes
// only an id, which shows the progress of the feed: this updates Last-Event-ID, and is no event for
// the page.
func (e *events) changes(event agent.Event) error {
	var all strings.Builder
	for i := range event.Changes {
		c := &event.Changes[i]
		text, err := eventText("change", c.Place(), document.ChangeOf(c))
		if err != nil {
			return err
		}
		all.WriteString(text)
	}
	if n := len(event.Changes); n == 0 || event.Through >= event.Changes[n-1].Index {
		all.WriteString("id: " + strconv.FormatUint(event.Through, 10) + "\n\n")
	}
	return e.write(all.String())
}

// instance writes an event about instances. Such events have no ids: a client cannot resume a
// watch, but gets a missed event.
func (e *events) instance(event *agent.InstanceEvent) error {
	if event.Missed {
		return e.event("missed", "", document.InstancesMissed{Node: event.Node, Reason: event.Reason})
	}
	return e.event("instance", "", document.InstanceChangeOf(event))
}
