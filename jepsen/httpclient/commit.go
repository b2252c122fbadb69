package httpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"dormouse/agent"
)

const mediaJSON = "application/json"

// commitCall is the request of a commit, and how its answer becomes a result.
type commitCall struct {
	request
	result func(*answer) (agent.Result, error)
}

// commitRequest returns the request of a commit: the call of its only op if alone is set
// and there is one, and POST /v1/commits otherwise.
func commitRequest(commit agent.Commit, alone bool) (*commitCall, error) {
	if commit.Request != (agent.Request{}) {
		return nil, agent.Errorf(agent.CodeInvalid, "an idempotency key has no client, number and low: use gRPC")
	}
	docs, err := opDocuments(commit.Ops)
	if err != nil {
		return nil, err
	}
	var c *commitCall
	if alone && len(docs) == 1 {
		c = ownCall(commit.Ops[0], docs[0])
	}
	if c == nil {
		c = &commitCall{request: request{method: http.MethodPost, path: "/v1/commits", media: mediaJSON, body: encode(members{"ops": docs})}, result: committed(docs)}
	}
	c.scope = commit.Scope
	if f := commit.Fence; f != nil {
		if err := spokenFence(f); err != nil {
			return nil, err
		}
		name, err := json.Marshal(f.Claim)
		if err != nil {
			panic(err) // cannot fail: a string
		}
		c.fence = fmt.Sprintf("claim=%s;epoch=%d", name, f.Epoch)
	}
	return c, nil
}

// spokenFence returns an error if the documents of HTTP have no form for a fence.
func spokenFence(f *agent.Fence) error {
	if f.Agent != "" {
		return agent.Errorf(agent.CodeInvalid, "a fence over HTTP names no agent: use gRPC")
	}
	return nil
}

// ownCall returns the call of one op whose answer holds the whole result; nil if there is
// none.
func ownCall(op agent.Op, doc members) *commitCall {
	body := maps.Clone(doc)
	delete(body, "op")
	switch op := op.(type) {
	case *agent.PutValue:
		return ownPut(op)
	case *agent.PutCheckpoint:
		delete(body, "key")
		return &commitCall{request: request{method: http.MethodPut, path: "/v1/checkpoints/" + url.PathEscape(op.Key), media: mediaJSON, body: encode(body)}, result: one(checkpointStamp)}
	case *agent.PatchCheckpoint:
		query := url.Values{}
		for _, name := range []string{"if_revision", "if_incarnation", "upsert", "shallow"} {
			if value, there := body[name]; there {
				query.Set(name, fmt.Sprint(value))
			}
		}
		return &commitCall{request: request{
			method: http.MethodPatch, path: "/v1/checkpoints/" + url.PathEscape(op.Key) + asked(query), media: "application/merge-patch+json", body: op.Patch,
		}, result: one(checkpointStamp)}
	case *agent.AppendThread:
		delete(body, "thread")
		return &commitCall{request: request{method: http.MethodPost, path: "/v1/threads/" + url.PathEscape(op.Thread) + "/entries", media: mediaJSON, body: encode(body)}, result: one(threadResult)}
	case *agent.ForkThread:
		delete(body, "thread")
		return &commitCall{request: request{method: http.MethodPost, path: "/v1/threads/" + url.PathEscape(op.Thread) + "/fork", media: mediaJSON, body: encode(body)}, result: one(threadResult)}
	default:
		if d := ownDelete(op, body); d != nil {
			return d
		}
		return ownFormedCall(op, body)
	}
}

// IncarnationUntold is the incarnation in the result of a delete whose answer is a 204. That says that there is nothing
// any more, and not whether there was something before.
const IncarnationUntold = math.MaxUint64

// ownDelete returns the call of a delete; nil if op is none, or has a condition that the call does not take.
func ownDelete(op agent.Op, body members) *commitCall {
	path := ""
	switch op := op.(type) {
	case *agent.DeleteValue:
		path = "/v1/values/" + url.PathEscape(op.Key)
	case *agent.DeleteCheckpoint:
		path = "/v1/checkpoints/" + url.PathEscape(op.Key)
	case *agent.DeleteThread:
		path = "/v1/threads/" + url.PathEscape(op.Thread)
	case *agent.DeleteSession:
		path = "/v1/sessions/" + url.PathEscape(op.Session)
	case *agent.DeleteMemory:
		path = "/v1/memory/" + url.PathEscape(op.Agent) + "/" + url.PathEscape(op.ID)
	case *agent.DeleteTimer:
		path = instancePath(op.Manager, op.Key) + "/timers/" + url.PathEscape(op.ID)
	case *agent.RevokeToken:
		path = "/v1/tokens/" + url.PathEscape(op.ID)
	}
	if _, is := body["if_bytes"]; is || path == "" {
		return nil
	}
	query := url.Values{}
	for _, name := range []string{"if_revision", "if_incarnation", "seal_ms"} {
		if value, there := body[name]; there {
			query.Set(name, fmt.Sprint(value))
		}
	}
	return &commitCall{request: request{method: http.MethodDelete, path: path + asked(query)}, result: one(func([]byte) (agent.OpResult, int64, error) {
		return &agent.DeleteResult{Incarnation: IncarnationUntold}, 0, nil
	})}
}

// ownPut returns PUT /v1/values/{key}, which has no condition on bytes and no metadata.
func ownPut(op *agent.PutValue) *commitCall {
	if op.IfBytes != nil || op.Metadata != nil {
		return nil
	}
	query := url.Values{}
	if op.IfRevision != nil {
		query.Set("if_revision", strconv.FormatUint(*op.IfRevision, 10))
	}
	if op.IfIncarnation != 0 {
		query.Set("if_incarnation", strconv.FormatUint(op.IfIncarnation, 10))
	}
	if op.TTL != 0 {
		query.Set("ttl_ms", strconv.FormatInt(op.TTL.Milliseconds(), 10))
	}
	if op.SkipExisting {
		query.Set("on_exists", "skip")
	}
	media := op.ContentType
	if media == "" {
		media = agent.DefaultContentType
	}
	return &commitCall{request: request{method: http.MethodPut, path: "/v1/values/" + url.PathEscape(op.Key) + asked(query), media: media, body: op.Bytes}, result: one(valueStamp)}
}

// asked returns a query with its question mark; "" if it is empty.
func asked(query url.Values) string {
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// encode returns a document. It leaves the JSON of callers as it is.
func encode(m members) []byte {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic(err) // cannot fail: strings, numbers and valid JSON
	}
	return body.Bytes()
}

// one returns the result of a call with one op, whose answer decode reads.
func one(decode func([]byte) (agent.OpResult, int64, error)) func(*answer) (agent.Result, error) {
	return func(a *answer) (agent.Result, error) {
		index, err := a.index()
		if err != nil {
			return agent.Result{}, err
		}
		r, time, err := decode(a.body)
		return agent.Result{Index: index, Time: time, Results: []agent.OpResult{r}}, err
	}
}

// committed returns how the answer of POST /v1/commits becomes a result. docs are the ops that were
// sent. A node of an older version does not name the op of a result.
func committed(docs []members) func(a *answer) (agent.Result, error) {
	return func(a *answer) (agent.Result, error) { return resultsOf(a, docs) }
}

func resultsOf(a *answer, docs []members) (agent.Result, error) {
	var doc struct {
		Index   *uint64           `json:"index"`
		Time    int64             `json:"time"`
		Results []json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(a.body, &doc); err != nil {
		return agent.Result{}, err
	}
	if doc.Index == nil || doc.Results == nil {
		return agent.Result{}, fmt.Errorf("it has no index or no results")
	}
	if len(doc.Results) != len(docs) {
		return agent.Result{}, fmt.Errorf("it has %d results of %d ops", len(doc.Results), len(docs))
	}
	out := agent.Result{Index: *doc.Index, Time: doc.Time, Results: make([]agent.OpResult, len(doc.Results))}
	for i, raw := range doc.Results {
		sent, _ := docs[i]["op"].(string)
		var err error
		if out.Results[i], err = opResult(raw, sent); err != nil {
			return agent.Result{}, fmt.Errorf("result %d: %w", i, err)
		}
	}
	return out, nil
}

// CommitBody returns the body of POST /v1/commits, which is also that of dormctl commit.
func CommitBody(commit agent.Commit) ([]byte, error) {
	docs, err := opDocuments(commit.Ops)
	if err != nil {
		return nil, err
	}
	body := members{"ops": docs}
	if f := commit.Fence; f != nil {
		if err := spokenFence(f); err != nil {
			return nil, err
		}
		body["fence"] = members{"claim": f.Claim, "epoch": f.Epoch}
	}
	return encode(body), nil
}

// Committed returns the result that the answer of POST /v1/commits holds, to these ops.
func Committed(ops []agent.Op, body []byte) (agent.Result, error) {
	docs, err := opDocuments(ops)
	if err != nil {
		return agent.Result{}, err
	}
	return committed(docs)(&answer{body: body})
}

// Found returns what the answer to a read holds.
func Found(read string, body []byte) (agent.Found, error) { return found(read)(body) }
