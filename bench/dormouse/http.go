package dormouse

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/bench/jsonhttp"
	"dormouse/bench/load"
)

// HTTP uses the HTTP API.
type HTTP struct{ web *jsonhttp.Client }

var _ load.Driver = (*HTTP)(nil)

// DialHTTP returns an HTTP driver that uses the nodes at these addresses in turn: with HTTP/1.1 on
// a connection for each caller, with HTTP/2 on one for each node.
func DialHTTP(endpoints []string, http2 bool) *HTTP {
	return &HTTP{jsonhttp.New(endpoints, http2, http.Header{"Dormouse-Scope": {scope}})}
}

// Put implements load.Driver.
func (d *HTTP) Put(ctx context.Context, key string, checkpoint []byte) error {
	return d.web.Call(ctx, http.MethodPut, "/v1/checkpoints/"+url.PathEscape(key), checkpointBody{State: checkpoint}, nil)
}

// Get implements load.Driver.
func (d *HTTP) Get(ctx context.Context, key string) ([]byte, error) {
	var c checkpointBody
	err := d.web.Call(ctx, http.MethodGet, "/v1/checkpoints/"+url.PathEscape(key), nil, &c)
	return c.State, err
}

// Append implements load.Driver.
func (d *HTTP) Append(ctx context.Context, t *load.Thread, entries ...[]byte) error {
	var answer struct {
		Rev uint64 `json:"rev"`
	}
	err := d.web.Call(ctx, http.MethodPost, "/v1/threads/"+url.PathEscape(t.ID)+"/entries", entriesBody(t, entries), &answer)
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
		"op": "put_checkpoint", "key": t.ID, "state": jsontext.Value(checkpoint),
		"thread": map[string]any{"id": t.ID, "rev": rev},
	}
	if err := d.web.Call(ctx, http.MethodPost, "/v1/commits", map[string]any{"ops": []any{add, put}}, nil); err != nil {
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
			Entries []jsontext.Value `json:"entries"`
		} `json:"thread"`
	}
	err := d.web.Call(ctx, http.MethodGet, "/v1/agents/"+url.PathEscape(key)+"/thaw?tail="+strconv.Itoa(tail), nil, &answer)
	return answer.Checkpoint.State, len(answer.Thread.Entries), err
}

// Look implements load.Driver.
func (d *HTTP) Look(ctx context.Context, t *load.Thread) error {
	var answer struct {
		Rev uint64 `json:"rev"`
	}
	err := d.web.Call(ctx, http.MethodGet, "/v1/threads/"+url.PathEscape(t.ID), nil, &answer)
	var status *jsonhttp.StatusError
	if errors.As(err, &status) && status.Code == http.StatusNotFound {
		err = nil
	}
	t.Rev = answer.Rev
	return err
}

// Close implements load.Driver.
func (d *HTTP) Close() error { return d.web.Close() }

// checkpointBody is the used part of a checkpoint in JSON.
type checkpointBody struct {
	State jsontext.Value `json:"state"`
}

func entriesBody(t *load.Thread, entries [][]byte) map[string]any {
	list := make([]map[string]any, len(entries))
	for i, e := range entries {
		list[i] = map[string]any{"kind": agent.KindMessage, "payload": jsontext.Value(e)}
	}
	return map[string]any{"entries": list, "expected_rev": t.Rev}
}
