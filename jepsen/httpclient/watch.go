package httpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
)

// quietMax bounds how long a stream may be silent: a node sends a comment every 15 s.
const quietMax = 20 * time.Second

// Watch follows a thread, a claim or the changes of a scope as docs/http.md says. A client that may use
// any node continues a broken stream on the next one, after the last id that it got; a client that is
// bound to a node ends with unavailable. The watch of a thread asks for its incarnation first, so that
// it ends when the thread is deleted.
func (c *Client) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		s := &stream{client: c, w: w, yield: yield}
		for n := uint64(0); ; n++ {
			urls := c.o.URLs()
			err := s.begin(ctx)
			if err == nil {
				err = s.once(ctx, urls[(c.at.Load()+n)%uint64(len(urls))])
			}
			switch code := agent.CodeOf(err); {
			case s.over || ctx.Err() != nil:
				return
			case !c.o.Retries, code != agent.CodeUnavailable && code != agent.CodeUnknown && code != agent.CodeOverloaded:
				yield(agent.Event{}, err)
				return
			}
			if !pause.For(ctx, restMin) {
				return
			}
		}
	}
}

// stream is one watch with all of its connections.
type stream struct {
	client *Client
	w      agent.Watch
	yield  func(agent.Event, error) bool
	last   string // the id of the last event
	over   bool   // the consumer stopped, or the last event came
}

// begin learns the incarnation of the thread before the first connection.
func (s *stream) begin(ctx context.Context) error {
	if s.w.Thread == "" || s.w.Incarnation != 0 {
		return nil
	}
	t, err := s.client.In(s.w.Scope).GetThread(ctx, s.w.Thread)
	if err == nil {
		s.w.Incarnation = t.Incarnation
	}
	return err
}

// path returns the call of the watch.
func (s *stream) path() string {
	query := url.Values{}
	number := func(name string, n uint64) {
		if n != 0 {
			query.Set(name, strconv.FormatUint(n, 10))
		}
	}
	switch w := s.w; {
	case w.Changes:
		number("from_index", w.From)
		if w.Prefix != "" {
			query.Set("prefix", w.Prefix)
		}
		return "/v1/changes" + asked(query)
	case w.Claim != "":
		return "/v1/claims/" + url.PathEscape(w.Claim) + "/watch"
	default:
		number("from", w.From)
		number("incarnation", w.Incarnation)
		return "/v1/threads/" + url.PathEscape(w.Thread) + "/watch" + asked(query)
	}
}

// once follows one connection until it ends. The error says why, and that the watch can go on if it is
// unavailable.
func (s *stream) once(ctx context.Context, at string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+s.path(), nil)
	if err != nil {
		return agent.Errorf(agent.CodeInvalid, "%v", err)
	}
	s.client.head(req, &request{scope: s.w.Scope}, attemptMax)
	req.Header.Set("Accept", "text/event-stream")
	if s.last == "" && s.w.Skip > 0 {
		s.last = fmt.Sprintf("%d.%d", s.w.From, s.w.Skip-1)
	}
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	quiet := time.AfterFunc(quietMax, cancel)
	defer quiet.Stop()
	res, err := s.client.web.Do(req)
	if err != nil {
		return agent.Errorf(agent.CodeUnavailable, "no connection: %v", err)
	}
	defer res.Body.Close() //nolint:errcheck // the watch is over
	if res.StatusCode != http.StatusOK {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return agent.Errorf(agent.CodeUnavailable, "no answer: %v", err)
		}
		return s.refused(refusedBy(res, body).err)
	}
	return s.read(bufio.NewReader(res.Body), func() { quiet.Reset(quietMax) })
}

// refused makes an event of a refusal that ends a feed.
func (s *stream) refused(err error) error {
	switch code := agent.CodeOf(err); {
	case s.w.Changes && code == agent.CodeCompacted:
		s.end(agent.Event{Kind: agent.EventCompacted, Floor: floorOf(err)})
	case s.w.Changes && code == agent.CodeDeleted:
		s.end(agent.Event{Kind: agent.EventDeleted})
	}
	return err
}

func (s *stream) end(e agent.Event) {
	s.yield(e, nil)
	s.over = true
}

// sent is an event of a stream. A block with an id alone has no kind.
type sent struct{ kind, id, data string }

// read reads events until the stream ends.
func (s *stream) read(from *bufio.Reader, alive func()) error {
	var next sent
	for {
		line, err := from.ReadString('\n')
		if err != nil { // a line that is not whole counts for nothing
			return agent.Errorf(agent.CodeUnavailable, "the stream broke: %v", err)
		}
		alive()
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			next.kind = value
		case "id":
			next.id = value
		case "data":
			next.data += value
		case "":
			if line != "" || next == (sent{}) { // a comment
				continue
			}
			if err := s.event(next); err != nil || s.over {
				return err
			}
			next = sent{}
		}
	}
}

// event yields an event of a stream.
func (s *stream) event(e sent) error {
	event, err := s.eventOf(e)
	if err != nil {
		return err
	}
	if e.id != "" {
		s.last = e.id
	}
	if event.Last() {
		s.end(event)
		return nil
	}
	s.over = !s.yield(event, nil)
	return nil
}

func (s *stream) eventOf(e sent) (agent.Event, error) {
	var event agent.Event
	raw := []byte(e.data)
	var err error
	switch e.kind {
	case "entry":
		var d entryDocument
		err = json.Unmarshal(raw, &d)
		event = agent.Event{Kind: agent.EventEntry, Entry: entries([]entryDocument{d})[0]}
	case "claim":
		event.Kind = agent.EventClaim
		err = unform(raw, &event.Claim)
	case "change":
		var c agent.Changed
		err = unform(raw, &c)
		event = agent.Event{Kind: agent.EventChanges, Changes: []agent.Changed{c}}
		event.Through = max(1, c.Index) - 1 // changes of its index may follow
	case "": // a mark of a feed
		event.Kind = agent.EventChanges
		event.Through, err = strconv.ParseUint(e.id, 10, 64)
	case "compacted":
		event.Kind = agent.EventCompacted
		var d struct {
			Floor uint64 `json:"floor"`
		}
		err = json.Unmarshal(raw, &d)
		event.Floor = d.Floor
	case "deleted":
		event.Kind = agent.EventDeleted
	case "problem":
		told, _, err := problem(raw)
		if err != nil {
			return event, agent.Errorf(agent.CodeInternal, "the problem is no document: %v: %.200s", err, raw)
		}
		return event, told
	default:
		err = fmt.Errorf("its kind is not known")
	}
	if err != nil {
		err = agent.Errorf(agent.CodeInternal, "the event %q has %.200q: %v", e.kind, raw, err)
	}
	return event, err
}

// floorOf returns the floor in a refusal.
func floorOf(err error) uint64 {
	if e, is := err.(*agent.Error); is { //nolint:errorlint // as refusedBy made it
		return e.Floor
	}
	return 0
}
