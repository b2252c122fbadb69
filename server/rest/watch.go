package rest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/api/document"
)

const eventStream = "text/event-stream"

func (f *front) routeWatch() {
	register(f, route{
		method: http.MethodGet, path: "/v1/threads/{id}/watch", id: "watch-thread", tag: "threads",
		summary: "Server-sent events: a thread's entries as they come",
		effect:  reads, query: []string{"from", "incarnation"}, media: eventStream, streams: true,
	}, (*call).watchThread)
}

// watchFrom is the first seq to send: the one after Last-Event-ID, which a
// reconnecting caller sends beside the from that it began with.
func (c *call) watchFrom() (from uint64, resumed bool, err error) {
	from = c.number("from")
	last, err := single(c.r.Header, headerLastEvent)
	if err != nil || last == "" {
		return from, false, err
	}
	seq, err := strconv.ParseUint(last, 10, 64)
	if err != nil || seq+1 == 0 {
		return 0, false, agent.Invalid(headerLastEvent, "it is %q, and should be a seq", last)
	}
	return seq + 1, true, nil
}

// watchThread streams until the caller leaves or an event ends it. Whether the
// thread is there is asked first, so that it is answered by a status.
//
// A seq alone does not say of which life of the thread it is: incarnation does.
// Without it, what is seen is a thread that has not come to a seq which the
// caller has had.
func (c *call) watchThread(*none) error {
	incarnation := c.number("incarnation")
	from, resumed, err := c.watchFrom()
	if err != nil {
		return err
	}
	found, err := c.openWatch(&agent.GetThread{Thread: c.id("id")})
	if err != nil {
		return err
	}
	if t, ok := found.(*agent.Thread); ok && resumed && from > t.Rev && !c.flag("stale") {
		return c.stream(nil, watched{event: agent.Event{Kind: agent.EventDeleted}})
	}
	return c.watch(agent.Watch{Scope: c.scope, Thread: c.id("id"), From: from, Incarnation: incarnation})
}

// watch streams what the service yields.
func (c *call) watch(w agent.Watch) error {
	came, end := c.start(c.follow(w))
	defer end()
	return c.stream(came)
}

// start begins to follow a feed, which tells of its elements until it is told to
// stop; end ends that.
func (c *call) start(feed func(ctx context.Context, tell func(watched) bool)) (came <-chan watched, end func()) {
	ctx, cancel := context.WithCancel(c.r.Context())
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

// openWatch reads what is to be watched, within the call's time.
func (c *call) openWatch(asked agent.Read) (agent.Found, error) {
	whole := c.r
	defer func() { c.r = whole }()
	bounded, cancel := context.WithTimeout(whole.Context(), c.timeout)
	defer cancel()
	c.r = whole.WithContext(bounded)
	return read[agent.Found](c, asked)
}

// watched is one element of a watch, on its way to the stream.
type watched struct {
	event    agent.Event
	instance *agent.InstanceEvent // in place of event, of a watch of instances
	err      error
}

// follow is the feed of what the service yields.
func (c *call) follow(w agent.Watch) func(context.Context, func(watched) bool) {
	return func(ctx context.Context, tell func(watched) bool) {
		for event, err := range c.front.service.Watch(ctx, w) {
			if !tell(watched{event: event, err: err}) {
				return
			}
		}
	}
}

// stream writes what comes as events, after what has come already, and a
// comment where nothing does.
func (c *call) stream(came <-chan watched, already ...watched) error {
	c.w.Header().Set("Content-Type", eventStream)
	c.w.Header().Set("X-Accel-Buffering", "no") // proxies that buffer would hold events back
	if c.r.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	out := &events{w: c.w, control: http.NewResponseController(c.w)}
	if err := out.write(": the watch is open\n\n"); err != nil {
		return nil // the caller is gone: there is nobody left to tell
	}
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
		case <-c.r.Context().Done():
			return nil
		case <-c.front.closing:
			return nil // the caller comes back, here or to another node
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
		// The caller resumes after the last seq that it got.
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

// event writes one event. JSON has no line breaks within, so its data is one
// line.
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
