// Package sdkclient calls a cluster with the libraries for other languages. A small program in the library's language
// makes the calls, and gets them as lines of JSON.
package sdkclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/httpclient"
)

// The environment variables of the program.
const (
	EnvURLs  = "CALLER_URLS"  // comma-separated
	EnvToken = "CALLER_TOKEN" //nolint:gosec // the name of a variable
	EnvCA    = "CALLER_CA"    // path of the certificate authority of the nodes; "" if they do not serve TLS
)

// Program is a running program.
type Program struct {
	Stdin  io.WriteCloser
	Stdout io.Reader
	End    func() error // ends the program, and waits for its end
}

// Calls says which calls of a library a client makes where there are several.
type Calls int

// The choices of calls.
const (
	Mixed  Calls = iota // every other call is of Named, the others of Unions
	Unions              // the library's commit and read
	Named               // the library's method for the op or read, whose result has no index
)

// Client is an agent.Service. It makes one call at a time, beside its watches.
type Client struct {
	program *Program
	calls   Calls
	over    chan struct{} // closed by Close
	one     sync.Mutex    // held during a call

	mu      sync.Mutex
	last    int               // id of the newest call or watch; guarded by mu
	waiting map[int]*listener // :: id → who waits for its outcomes; guarded by mu
	broken  error             // the program has ended, or wrote what is no outcome; set before ended is closed
	ended   chan struct{}
}

// listener is a call or a watch.
type listener struct {
	id       int
	outcomes chan outcome
	left     chan struct{} // closed once it does not listen any more
}

var _ agent.Service = (*Client)(nil)

// New returns a client that calls by a program.
func New(p *Program, calls Calls) *Client {
	c := &Client{program: p, calls: calls, over: make(chan struct{}), waiting: map[int]*listener{}, ended: make(chan struct{})}
	go c.listen()
	return c
}

// lineMax bounds a line of the program.
const lineMax = 64 << 20

// outcome is what the program tells of a call, or an event of a watch. Exactly one of its members beside ID is set.
type outcome struct {
	ID      int             `json:"id"`
	Done    json.RawMessage `json:"done"` // null of a delete
	Refused json.RawMessage `json:"refused"`
	Unknown string          `json:"unknown"`
	Broken  string          `json:"broken"` // the library raised an error that is none of its outcomes
	Event   json.RawMessage `json:"event"`
	Place   string          `json:"place"` // of an event: its place in the feed of changes
	Ended   bool            `json:"ended"` // a watch came to its end without an error
}

// listen passes on what the program tells, until it ends. A watch that is not read holds everything back, as a slow
// reader of a stream does.
func (c *Client) listen() {
	scan := bufio.NewScanner(c.program.Stdout)
	scan.Buffer(nil, lineMax)
	for scan.Scan() {
		var o outcome
		if json.Unmarshal(scan.Bytes(), &o) != nil {
			c.fail(agent.Errorf(agent.CodeInternal, "the program wrote %.200q", scan.Bytes()))
			continue
		}
		c.mu.Lock()
		l := c.waiting[o.ID]
		c.mu.Unlock()
		if l == nil { // of a call whose time was over, or a watch that was left
			continue
		}
		select {
		case l.outcomes <- o:
		case <-l.left:
		case <-c.over:
		}
	}
	c.fail(agent.Errorf(agent.CodeInternal, "the program has ended"))
}

// fail ends all calls and watches with an error, now and later.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = err
		close(c.ended)
	}
}

// Close ends the program.
func (c *Client) Close() error {
	close(c.over)
	_ = c.program.Stdin.Close() // it ends by itself once its call is over
	err := c.program.End()
	<-c.ended
	return err
}

// send sends the members of a document with some more, and listens for its outcomes until leave is called.
func (c *Client) send(more map[string]any, document []byte) (*listener, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, c.broken
	}
	c.last++
	l := &listener{id: c.last, outcomes: make(chan outcome), left: make(chan struct{})}
	c.waiting[l.id] = l
	more["id"] = l.id
	head := encode(more)
	// The members of the document follow as they are: numbers whole, and texts as their writer spelled them.
	line := slices.Concat(head[:len(head)-1], []byte(","), bytes.TrimLeft(bytes.TrimSpace(document), "{"), []byte("\n"))
	if _, err := c.program.Stdin.Write(line); err != nil {
		delete(c.waiting, l.id)
		return nil, agent.Errorf(agent.CodeInternal, "the program has ended: %v", err)
	}
	return l, nil
}

func (c *Client) leave(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, l.id)
	close(l.left)
}

// encode returns a document. It leaves the JSON of callers as it is.
func encode(document any) []byte {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(document); err != nil {
		panic(err) // cannot fail: strings, numbers and valid JSON
	}
	return bytes.TrimSpace(line.Bytes())
}

// grace is how long before its caller's deadline a call of the library ends, so that its outcome is told.
const grace = 300 * time.Millisecond

// call makes a call: the members of a document, with its scope.
func (c *Client) call(ctx context.Context, effect bool, scope string, document []byte) ([]byte, error) {
	c.one.Lock()
	defer c.one.Unlock()
	most := 10 * time.Second
	if end, bounded := ctx.Deadline(); bounded {
		most = max(100*time.Millisecond, time.Until(end)-grace)
	}
	l, err := c.send(map[string]any{"timeout_ms": most.Milliseconds(), "scope": scope}, document)
	if err != nil {
		return nil, err
	}
	defer c.leave(l)
	select {
	case o := <-l.outcomes:
		return o.told(effect)
	case <-c.ended:
		return nil, c.broken
	case <-ctx.Done():
		return nil, agent.Errorf(agent.CodeUnknown, "the program did not answer in time")
	}
}

// told returns the answer of a call, or its error.
func (o outcome) told(effect bool) ([]byte, error) {
	switch {
	case o.Done != nil:
		return o.Done, nil
	case o.Refused != nil:
		err := httpclient.Problem(o.Refused)
		if effect && agent.OutcomeOf(err) == agent.Undecided {
			// The library says that it was not applied. It is judged by that, and not by the code.
			return nil, agent.Errorf(agent.CodeUnavailable, "refused: %v", err)
		}
		return nil, err
	case o.Unknown != "":
		return nil, agent.Errorf(agent.CodeUnknown, "%s", o.Unknown)
	default:
		return nil, agent.Errorf(agent.CodeInternal, "this is no outcome of the library: %s", o.Broken)
	}
}

// Commit implements agent.Service with the library's commit, or its method for the only op.
func (c *Client) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	if call, result, is := httpclient.CommitAlone(commit); is && c.callsAlone() {
		if document, is := aloneOf(call, commit.Fence); is {
			answer, err := c.call(ctx, true, commit.Scope, document)
			if err != nil {
				return agent.Result{}, err
			}
			return fit(result(answer))
		}
	}
	body, err := httpclient.CommitBody(commit)
	if err != nil {
		return agent.Result{}, err
	}
	answer, err := c.call(ctx, true, commit.Scope, body)
	if err != nil {
		return agent.Result{}, err
	}
	return fit(httpclient.Committed(commit.Ops, answer))
}

// Read implements agent.Service with the library's read, or its method for the only read.
func (c *Client) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if call, answers, is := httpclient.ReadAlone(r); is && c.callsAlone() {
		if document, is := aloneOf(call, nil); is {
			answer, err := c.call(ctx, false, r.Scope, document)
			var refused *agent.Error
			switch {
			case errors.As(err, &refused) && refused.Code == agent.CodeNotFound:
				return agent.Answers{Answers: []agent.Answer{{Err: refused}}}, nil
			case err != nil:
				return agent.Answers{}, err
			}
			if found, err := answers(answer); !errors.Is(err, httpclient.ErrPartial) {
				return fit(found, err)
			}
		}
	}
	body, answered, err := httpclient.ReadsBody(r)
	if err != nil {
		return agent.Answers{}, err
	}
	answer, err := c.call(ctx, false, r.Scope, body)
	if err != nil {
		return agent.Answers{}, err
	}
	return fit(answered(answer))
}

// fit returns the value of an answer. An answer that does not fit its call is a finding.
func fit[T any](value T, err error) (T, error) {
	if err != nil {
		return value, agent.Errorf(agent.CodeInternal, "the library's answer does not fit the call: %v", err)
	}
	return value, nil
}

// callsAlone reports whether the next call is the method of its op or read.
func (c *Client) callsAlone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls == Named || c.calls == Mixed && c.last%2 == 0
}
