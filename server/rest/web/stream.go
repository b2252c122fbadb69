package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/api/document"
)

// EventStream is the media type of server-sent events.
const EventStream = "text/event-stream"

// WatchEvents returns the kinds of events of a stream, with the one that any stream may end with.
func WatchEvents(kinds map[string]any) map[string]any {
	kinds["problem"] = document.Problem{}
	return kinds
}

// Watch streams the service's events.
func (c *Request) Watch(w agent.Watch) error {
	came, end := c.Start(c.Follow(w))
	defer end()
	return c.Stream(came)
}

// Start runs a feed, which passes its elements to tell until tell returns false; end stops it.
func (c *Request) Start(feed func(ctx context.Context, tell func(Watched) bool)) (came <-chan Watched, end func()) {
	ctx, cancel := context.WithCancel(c.Context)
	elements, done := make(chan Watched), make(chan struct{})
	go func() {
		defer close(done)
		defer close(elements)
		feed(ctx, func(next Watched) bool {
			select {
			case elements <- next:
				return next.Err == nil
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

// OpenWatch reads the watched resource, within the request's timeout.
func (c *Request) OpenWatch(asked agent.Read) (agent.Found, error) {
	whole := c.Context
	defer func() { c.Context = whole }()
	bounded, cancel := context.WithTimeout(whole, c.timeout)
	defer cancel()
	c.Context = bounded
	return Read[agent.Found](c, asked)
}

// Watched is one element of a watch before it is streamed.
type Watched struct {
	Event    agent.Event
	Instance *agent.InstanceEvent // instead of event, in a watch of instances
	Err      error
}

// Follow returns the feed of the service's events.
func (c *Request) Follow(w agent.Watch) func(context.Context, func(Watched) bool) {
	return func(ctx context.Context, tell func(Watched) bool) {
		for event, err := range c.API.Service.Watch(ctx, w) {
			if !tell(Watched{Event: event, Err: err}) {
				return
			}
		}
	}
}

// Stream writes first the elements in already, then those of came, as events. While there are none
// it writes comments.
func (c *Request) Stream(came <-chan Watched, already ...Watched) error {
	c.Writer.Header().Set("Content-Type", EventStream)
	c.Writer.Header().Set("X-Accel-Buffering", "no") // buffering proxies would delay events
	if c.HTTP.Method == http.MethodHead {
		c.Writer.WriteHeader(http.StatusOK)
		return nil
	}
	out := &events{w: c.Writer, control: http.NewResponseController(c.Writer)}
	if err := out.write(": the watch is open\n\n"); err != nil {
		return nil // the client has disconnected
	}
	endSpan(trace.SpanFromContext(c.Context), c.HTTP.Method, c.Writer) // not as long as the watch
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
		case <-c.Context.Done():
			return nil
		case <-c.API.closing:
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
	w       *Writer
	control *http.ResponseController
}

// send writes one element and reports whether it was the last.
func (e *events) send(next Watched) (last bool, err error) {
	switch {
	case next.Err != nil:
		// The client resumes after its last seq.
		return true, e.event("problem", "", document.ProblemOf(ReadOutcome(next.Err)))
	case next.Instance != nil:
		return false, e.instance(next.Instance)
	case next.Event.Kind == agent.EventCompacted:
		return true, e.event("compacted", "", document.WatchEnd{Floor: &next.Event.Floor})
	case next.Event.Kind == agent.EventDeleted:
		return true, e.event("deleted", "", document.WatchEnd{})
	case next.Event.Kind == agent.EventClaim:
		return false, e.event("claim", "", document.ClaimOf(next.Event.Claim))
	case next.Event.Kind == agent.EventChanges:
		return false, e.changes(next.Event)
	default:
		return false, e.event("entry", strconv.FormatUint(next.Event.Entry.Seq, 10), document.EntryOf(next.Event.Entry))
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
	e.w.ExtendDeadline()
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.control.Flush()
}

// FirstOf waits for the first element of a feed, within the request's timeout.
func FirstOf(c *Request, came <-chan Watched) (Watched, error) {
	late := time.NewTimer(c.timeout)
	defer late.Stop()
	select {
	case first, ok := <-came:
		switch {
		case !ok:
			return first, agent.Errorf(agent.CodeUnavailable, "the feed ended before it began: retry")
		case first.Err != nil:
			return first, ReadOutcome(first.Err)
		case first.Event.Last():
			return first, agent.EndOfChanges(first.Event)
		}
		return first, nil
	case <-c.API.closing:
	case <-c.Context.Done():
	case <-late.C:
	}
	return Watched{}, agent.Errorf(agent.CodeUnavailable, "the feed did not begin in time: retry")
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
