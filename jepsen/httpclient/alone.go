package httpclient

import (
	"net/http"
	"strings"

	"dormouse/agent"
)

// Alone is the call of one op or of one read over HTTP, for a caller whose library has a method for it.
type Alone struct {
	Method string
	Path   string // escaped, with its query
	Media  string // type of Body; "" without one
	Body   []byte
}

// CommitAlone returns the call of a commit's only op, and how the body of its answer becomes a result without an
// index. ok is false if there is no such call.
func CommitAlone(commit agent.Commit) (call Alone, result func(body []byte) (agent.Result, error), ok bool) {
	c, err := commitRequest(commit, true)
	if err != nil || c.path == "/v1/commits" {
		return Alone{}, nil, false
	}
	return aloneOf(&c.request), func(body []byte) (agent.Result, error) { return c.result(unindexed(body)) }, true
}

// ReadAlone is CommitAlone for reads.
func ReadAlone(r agent.Reads) (call Alone, answers func(body []byte) (agent.Answers, error), ok bool) {
	c, err := readRequest(r, true)
	if err != nil || strings.HasPrefix(c.path, "/v1/reads") {
		return Alone{}, nil, false
	}
	if get, is := r.Reads[0].(*agent.GetValue); is { // a library's answer is no answer of a node
		c = aloneCall(r.Scope, c.path, libraryValue(get.Key))
	}
	return aloneOf(&c.request), func(body []byte) (agent.Answers, error) { return c.answers(unindexed(body)) }, true
}

func aloneOf(r *request) Alone {
	return Alone{Method: r.method, Path: r.path, Media: r.media, Body: r.body}
}

// unindexed returns an answer whose index is not known, which is 0.
func unindexed(body []byte) *answer {
	return &answer{header: http.Header{"Dormouse-Index": {"0"}}, body: body}
}

// EventOf returns the event of a stream with a kind, an id and data.
func EventOf(kind, id, data string) (agent.Event, error) {
	return (&stream{}).eventOf(sent{kind: kind, id: id, data: data})
}
