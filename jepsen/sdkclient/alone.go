package sdkclient

import (
	"encoding/json"
	"net/url"
	"strings"

	"dormouse/agent"
	"dormouse/jepsen/httpclient"
)

// Paths are the paths of calls that a program makes alone, as the OpenAPI document names them. A fixed part comes before a
// parameter at its place.
var Paths = []string{
	"/v1/values/{key}",
	"/v1/checkpoints/{key}",
	"/v1/threads/{id}",
	"/v1/threads/{id}/entries",
	"/v1/threads/{id}/fork",
	"/v1/claims/{name}",
	"/v1/claims/{name}/renew",
	"/v1/claims/{name}/release",
	"/v1/sessions/{id}",
	"/v1/sessions/{id}/fork",
	"/v1/sessions/{id}/claim",
	"/v1/sessions/{id}/claim_resume",
	"/v1/sessions/{id}/recover",
	"/v1/sessions/{id}/checkpoint",
	"/v1/sessions/{id}/commit",
	"/v1/sessions/{id}/renew",
	"/v1/reviews/{review}",
	"/v1/reviews/{review}/decide",
	"/v1/memory/recall",
	"/v1/memory/{agent}/{id}",
	"/v1/managers/{manager}/instances/{key}/timers/{timer}",
	"/v1/conversations/{id}",
	"/v1/conversations/{id}/messages",
	"/v1/conversations/{id}/pending",
	"/v1/values",
	"/v1/threads",
	"/v1/sessions",
	"/v1/reviews",
	"/v1/checkpoints/{key}/history",
	"/v1/agents/{key}/thaw",
	"/v1/managers/{manager}/timers",
	"/v1/managers/{manager}/instances/{key}/timers",
}

// alone is a call in the line of a program.
type alone struct {
	Method string            `json:"method"`
	Path   string            `json:"path"` // one of Paths
	Params map[string]string `json:"params"`
	Query  map[string]string `json:"query"`
	Media  string            `json:"media"`
	Body   json.RawMessage   `json:"body,omitempty"` // of JSON
	Data   []byte            `json:"data,omitempty"` // of any other type
}

// aloneOf returns the document of a call under a fence; is is false if its path is none of Paths.
func aloneOf(call httpclient.Alone, fence *agent.Fence) (document []byte, is bool) {
	path, rawQuery, _ := strings.Cut(call.Path, "?")
	query, err := url.ParseQuery(rawQuery)
	a := alone{Method: call.Method, Query: map[string]string{}, Media: call.Media}
	if a.Path, a.Params = matched(path); a.Path == "" || err != nil {
		return nil, false
	}
	for name := range query {
		a.Query[name] = query.Get(name)
	}
	if strings.HasSuffix(call.Media, "json") {
		a.Body = call.Body
	} else {
		a.Data = call.Body
	}
	line := map[string]any{"call": a}
	if fence != nil {
		line["fence"] = map[string]any{"claim": fence.Claim, "epoch": fence.Epoch}
	}
	return encode(line), true
}

// matched returns the path of Paths that an escaped path is an instance of, and its parameters.
func matched(path string) (of string, params map[string]string) {
	parts := strings.Split(path, "/")
	for _, of := range Paths {
		if params := instance(strings.Split(of, "/"), parts); params != nil {
			return of, params
		}
	}
	return "", nil
}

// instance returns the parameters of the parts of a path; nil if they are not of a path.
func instance(of, parts []string) map[string]string {
	if len(of) != len(parts) {
		return nil
	}
	params := map[string]string{}
	for i, part := range of {
		if !strings.HasPrefix(part, "{") {
			if parts[i] != part {
				return nil
			}
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil {
			return nil
		}
		params[strings.Trim(part, "{}")] = value
	}
	return params
}
