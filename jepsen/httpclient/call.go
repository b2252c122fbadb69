package httpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
)

// request is one call, which may take several attempts.
type request struct {
	method, path string
	scope, fence string
	key          string // Idempotency-Key; "" for reads
	media        string // type of the body; "" without one
	body         []byte
	decode       func(*answer) error  // of a successful answer
	refused      func(problem []byte) // called with the problem of a refusal; may be nil
	patient      bool                 // an attempt may take as long as the call
}

// answer is a complete successful answer.
type answer struct {
	header http.Header
	body   []byte
}

// index returns the log index of the answer.
func (a *answer) index() (uint64, error) {
	n, err := strconv.ParseUint(a.header.Get("Dormouse-Index"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the header Dormouse-Index: %w", err)
	}
	return n, nil
}

// attempt is what one attempt showed.
type attempt struct {
	err   error
	sent  bool          // the node may have got the request
	open  bool          // the write may still apply
	alone bool          // the refusal is about this attempt, and says nothing of earlier ones
	after time.Duration // when to try again; 0 if the answer holds for every attempt
}

// call makes attempts until one decides the call or ctx ends. Once an attempt of a write
// may still apply, only an answer that the log decided says that the call was refused: a
// node that cannot serve a later attempt knows nothing of the earlier one.
func (c *Client) call(ctx context.Context, r *request, effect bool) error {
	at, urls, open := c.at.Load(), c.o.URLs(), false
	for n := uint64(0); ; n++ {
		i := (at + n) % uint64(len(urls))
		a := c.attempt(ctx, urls[i], r)
		if a.err == nil {
			c.at.Store(i)
			return nil
		}
		open = open || effect && a.open
		again := a.after > 0 && (c.o.Retries || !a.sent && n+1 < uint64(len(urls)))
		if again && pause.For(ctx, a.after) {
			continue
		}
		switch {
		case open && (a.after > 0 || a.open || a.alone):
			return agent.Errorf(agent.CodeUnknown, "%v", a.err)
		case !effect && agent.CodeOf(a.err) == agent.CodeUnknown:
			return agent.Errorf(agent.CodeUnavailable, "%v", a.err)
		default:
			return a.err
		}
	}
}

// attempt makes one attempt.
func (c *Client) attempt(ctx context.Context, url string, r *request) attempt {
	most := attemptMax
	if end, bounded := ctx.Deadline(); bounded {
		left := time.Until(end)
		left -= min(attemptGrace/2, left/5)
		if most = min(most, left); r.patient {
			most = left
		}
	}
	if most <= 0 {
		most = time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, most+attemptGrace)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, url+r.path, bytes.NewReader(r.body))
	if err != nil {
		return attempt{err: agent.Errorf(agent.CodeInvalid, "%v", err)}
	}
	c.head(req, r, most)
	// The transport itself repeats a request with an idempotency key whose connection
	// broke. So the last error does not say whether an earlier connection carried it.
	var connected atomic.Int32
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Add(1)
		if c.o.Attempted != nil {
			c.o.Attempted(ctx)
		}
	}}))
	res, err := c.web.Do(req)
	if err != nil {
		sent := connected.Load() > 0
		return attempt{err: lost(sent, err), sent: sent, open: sent, after: restMin}
	}
	defer res.Body.Close() //nolint:errcheck // it was read whole, or the connection is broken
	body, err := io.ReadAll(res.Body)
	if err != nil { // what the status says may be the whole truth, but the answer is not complete
		return attempt{err: lost(true, err), sent: true, open: true, after: restMin}
	}
	if id := res.Header.Get("Dormouse-Cluster"); id != "" {
		c.cluster.CompareAndSwap(nil, &id)
	}
	if res.StatusCode >= http.StatusBadRequest {
		if r.refused != nil {
			r.refused(body)
		}
		a := refusedBy(res, body)
		a.open = a.open || a.alone && connected.Load() > 1
		return a
	}
	if err := r.decode(&answer{res.Header, body}); err != nil {
		return attempt{err: agent.Errorf(agent.CodeInternal, "%s %s answers %d, which does not fit the call: %v: %.200s", r.method, r.path, res.StatusCode, err, body), sent: true}
	}
	return attempt{}
}

func (c *Client) head(req *http.Request, r *request, most time.Duration) {
	for name, value := range map[string]string{
		"Dormouse-Scope": r.scope, "Dormouse-Fence": r.fence, "Idempotency-Key": r.key, "Content-Type": r.media,
		"Dormouse-Timeout-Ms": strconv.FormatInt(max(1, most.Milliseconds()), 10),
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if c.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Token)
	}
	if id := c.cluster.Load(); id != nil {
		req.Header.Set("Dormouse-Cluster", *id)
	}
}

// lost returns the error of an attempt without an answer.
func lost(sent bool, err error) error {
	if sent {
		return agent.Errorf(agent.CodeUnknown, "no answer: %v", err)
	}
	return agent.Errorf(agent.CodeUnavailable, "no connection: %v", err)
}

// refusedBy returns what a problem says about the attempt.
func refusedBy(res *http.Response, body []byte) attempt {
	e, retryAfter, err := problem(body)
	if err != nil || e.Code == "" {
		return attempt{err: agent.Errorf(agent.CodeInternal, "the answer %d is no problem document: %.200s", res.StatusCode, body), sent: true, open: true}
	}
	a := attempt{err: e, sent: true}
	switch e.Code {
	case agent.CodeUnknown:
		a.open, a.after = true, restMin
	case agent.CodeRequestExpired:
		a.open = true
	case agent.CodeUnavailable, agent.CodeReadOnly, agent.CodeNotOwner:
		a.after = restMin
	case agent.CodeUnauthenticated, agent.CodeForbidden, agent.CodeQuotaExceeded: // the last is not remembered
		a.alone = true
	case agent.CodeOverloaded:
		a.after = min(max(retryAfter, restMin), restMax)
	default:
	}
	return a
}

// Problem returns the error that a problem document tells, which is internal if it is none.
func Problem(body []byte) error {
	e, _, err := problem(body)
	if err != nil || e.Code == "" {
		return agent.Errorf(agent.CodeInternal, "this is no problem document: %.200s", body)
	}
	return e
}

// problem reads a problem document.
func problem(body []byte) (e *agent.Error, retryAfter time.Duration, err error) {
	var p struct {
		Code         agent.Code `json:"code"`
		Detail       string     `json:"detail"`
		Op           *int       `json:"op"`
		Field        string     `json:"field"`
		Limit        string     `json:"limit"`
		Rev          uint64     `json:"rev"`
		Head         string     `json:"head"`
		Thread       string     `json:"thread"`
		Revision     uint64     `json:"revision"`
		Seq          uint64     `json:"seq"`
		Incarnation  uint64     `json:"incarnation"`
		Floor        uint64     `json:"floor"`
		Epoch        uint64     `json:"epoch"`
		Holder       string     `json:"holder"`
		ExpiresAt    int64      `json:"expires_at"`
		State        string     `json:"state"`
		Reason       string     `json:"reason"`
		RetryAfterMS int64      `json:"retry_after_ms"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, 0, err
	}
	e = &agent.Error{
		Code: p.Code, Detail: p.Detail, Op: -1, Field: p.Field, Limit: p.Limit, Rev: p.Rev, Head: p.Head, Thread: p.Thread, Revision: p.Revision,
		Seq: p.Seq, Incarnation: p.Incarnation, Floor: p.Floor, Epoch: p.Epoch, Holder: p.Holder, ExpiresAt: p.ExpiresAt, State: p.State,
		Reason: p.Reason, RetryAfterMS: p.RetryAfterMS,
	}
	if p.Op != nil {
		e.Op = *p.Op
	}
	return e, time.Duration(p.RetryAfterMS) * time.Millisecond, nil
}
