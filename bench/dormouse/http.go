package dormouse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/bench/load"
)

// HTTP uses the HTTP API with keep-alive connections, one for each caller.
type HTTP struct {
	bases []string // base URLs of nodes
	web   *http.Client
	next  atomic.Uint64 // selects the node of a call
}

var _ load.Driver = (*HTTP)(nil)

// DialHTTP returns an HTTP driver that uses the nodes at these addresses in turn.
func DialHTTP(endpoints []string) *HTTP {
	d := &HTTP{web: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: load.CallersMax}}}
	for _, e := range endpoints {
		d.bases = append(d.bases, "http://"+e)
	}
	return d
}

// Put implements load.Driver.
func (d *HTTP) Put(ctx context.Context, key string, checkpoint []byte) error {
	return d.call(ctx, http.MethodPut, "/v1/checkpoints/"+url.PathEscape(key), checkpointBody{State: checkpoint}, nil)
}

// Get implements load.Driver.
func (d *HTTP) Get(ctx context.Context, key string) ([]byte, error) {
	var c checkpointBody
	err := d.call(ctx, http.MethodGet, "/v1/checkpoints/"+url.PathEscape(key), nil, &c)
	return c.State, err
}

// Append implements load.Driver.
func (d *HTTP) Append(ctx context.Context, t *load.Thread, entries ...[]byte) error {
	var answer struct {
		Rev uint64 `json:"rev"`
	}
	err := d.call(ctx, http.MethodPost, "/v1/threads/"+url.PathEscape(t.ID)+"/entries", entriesBody(t, entries), &answer)
	if err == nil {
		t.Rev = answer.Rev
	}
	return err
}

// Turn implements load.Driver.
func (d *HTTP) Turn(ctx context.Context, t *load.Thread, checkpoint []byte, entries ...[]byte) error {
	rev := t.Rev + uint64(len(entries))
	add := entriesBody(t, entries)
	add["op"], add["thread"] = "append_thread", t.ID
	put := map[string]any{
		"op": "put_checkpoint", "key": t.ID, "state": json.RawMessage(checkpoint),
		"thread": map[string]any{"id": t.ID, "rev": rev},
	}
	if err := d.call(ctx, http.MethodPost, "/v1/commits", map[string]any{"ops": []any{add, put}}, nil); err != nil {
		return err
	}
	t.Rev = rev
	return nil
}

// Thaw implements load.Driver.
func (d *HTTP) Thaw(ctx context.Context, key string, tail int) ([]byte, int, error) {
	var answer struct {
		Checkpoint checkpointBody `json:"checkpoint"`
		Thread     struct {
			Entries []json.RawMessage `json:"entries"`
		} `json:"thread"`
	}
	err := d.call(ctx, http.MethodGet, "/v1/agents/"+url.PathEscape(key)+"/thaw?tail="+strconv.Itoa(tail), nil, &answer)
	return answer.Checkpoint.State, len(answer.Thread.Entries), err
}

// Look implements load.Driver.
func (d *HTTP) Look(ctx context.Context, t *load.Thread) error {
	var answer struct {
		Rev uint64 `json:"rev"`
	}
	err := d.call(ctx, http.MethodGet, "/v1/threads/"+url.PathEscape(t.ID), nil, &answer)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusNotFound {
		err = nil
	}
	t.Rev = answer.Rev
	return err
}

// Close implements load.Driver.
func (d *HTTP) Close() error {
	d.web.CloseIdleConnections()
	return nil
}

// checkpointBody is the used part of a checkpoint in JSON.
type checkpointBody struct {
	State json.RawMessage `json:"state"`
}

func entriesBody(t *load.Thread, entries [][]byte) map[string]any {
	list := make([]map[string]any, len(entries))
	for i, e := range entries {
		list[i] = map[string]any{"kind": agent.KindMessage, "payload": json.RawMessage(e)}
	}
	return map[string]any{"entries": list, "expected_rev": t.Rev}
}

// statusError is an HTTP error status.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.code, e.text) }

// call sends a body unless it is nil, and decodes the answer into into unless that is
// nil.
func (d *HTTP) call(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the body of %s %s: %w", method, path, err)
		}
		sent = bytes.NewReader(raw)
	}
	base := d.bases[d.next.Add(1)%uint64(len(d.bases))]
	request, err := http.NewRequestWithContext(ctx, method, base+path, sent)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Dormouse-Scope", scope)
	response, err := d.web.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %w", method, path, &statusError{response.StatusCode, string(answer)})
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("answer to %s %s: %w", method, path, err)
	}
	return nil
}
