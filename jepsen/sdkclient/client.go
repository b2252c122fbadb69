// Package sdkclient calls a cluster with the libraries for other languages. A small program in the library's language
// makes the calls, and gets them as lines of JSON.
package sdkclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
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

// Client is an agent.Service for commits and reads. It makes one call at a time.
type Client struct {
	program *Program
	named   bool
	lines   chan []byte // of the program; closed at its end

	mu   sync.Mutex // held during a call
	last int        // id of the newest call; guarded by mu
}

var _ agent.Service = (*Client)(nil)

// New returns a client that calls by a program. If named is set, it uses the library's calls of one value or thread,
// whose results have no index.
func New(p *Program, named bool) *Client {
	c := &Client{program: p, named: named, lines: make(chan []byte)}
	go c.listen()
	return c
}

// lineMax bounds a line of the program.
const lineMax = 64 << 20

// listen passes the program's lines on until it ends.
func (c *Client) listen() {
	defer close(c.lines)
	scan := bufio.NewScanner(c.program.Stdout)
	scan.Buffer(nil, lineMax)
	for scan.Scan() {
		c.lines <- append([]byte(nil), scan.Bytes()...)
	}
}

// Close ends the program.
func (c *Client) Close() error {
	_ = c.program.Stdin.Close() // it ends by itself once its call is over
	err := c.program.End()
	for range c.lines { // so that listen ends
		continue
	}
	return err
}

// grace is how long before its caller's deadline a call of the library ends, so that its outcome is told.
const grace = 300 * time.Millisecond

// outcome is what the program tells of a call.
type outcome struct {
	ID      int             `json:"id"`
	Done    json.RawMessage `json:"done"`
	Refused json.RawMessage `json:"refused"`
	Unknown string          `json:"unknown"`
	Broken  string          `json:"broken"` // the library raised an error that is none of its outcomes
}

// call makes a call: the members of a document, with its scope.
func (c *Client) call(ctx context.Context, effect bool, scope string, document []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	most := 10 * time.Second
	if end, bounded := ctx.Deadline(); bounded {
		most = max(100*time.Millisecond, time.Until(end)-grace)
	}
	head, err := json.Marshal(map[string]any{"id": c.last, "timeout_ms": most.Milliseconds(), "scope": scope, "named": c.named})
	if err != nil {
		return nil, fmt.Errorf("a call: %w", err)
	}
	// The members of the document follow as they are: numbers whole, and texts as their writer spelled them.
	line := slices.Concat(head[:len(head)-1], []byte(","), bytes.TrimLeft(bytes.TrimSpace(document), "{"), []byte("\n"))
	if _, err := c.program.Stdin.Write(line); err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "the program has ended: %v", err)
	}
	for {
		select {
		case line, more := <-c.lines:
			var o outcome
			switch {
			case !more:
				return nil, agent.Errorf(agent.CodeInternal, "the program has ended")
			case json.Unmarshal(line, &o) != nil:
				return nil, agent.Errorf(agent.CodeInternal, "the program wrote %.200q", line)
			case o.ID != c.last: // of a call whose time was over
				continue
			}
			return o.told(effect)
		case <-ctx.Done():
			return nil, agent.Errorf(agent.CodeUnknown, "the program did not answer in time")
		}
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

// Commit implements agent.Service with the library's commit.
func (c *Client) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	body, err := httpclient.CommitBody(commit)
	if err != nil {
		return agent.Result{}, err
	}
	answer, err := c.call(ctx, true, commit.Scope, body)
	if err != nil {
		return agent.Result{}, err
	}
	return httpclient.Committed(commit.Ops, answer)
}

// Read implements agent.Service with the library's read.
func (c *Client) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	body, answered, err := httpclient.ReadsBody(r)
	if err != nil {
		return agent.Answers{}, err
	}
	answer, err := c.call(ctx, false, r.Scope, body)
	if err != nil {
		return agent.Answers{}, err
	}
	return answered(answer)
}

// Watch is refused: this client has no watches.
func (*Client) Watch(context.Context, agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		yield(agent.Event{}, agent.Errorf(agent.CodeInvalid, "this client has no watches"))
	}
}
