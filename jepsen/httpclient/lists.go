package httpclient

import (
	"fmt"
	"net/url"
	"strings"

	"dormouse/agent"
)

// ownList is the call of a read whose parameters are members of the read's document.
type ownList struct {
	path    string            // with the members that are part of it in braces
	renamed map[string]string // :: member → its parameter, if that has another name
}

// ownLists are these calls by the names of the reads.
var ownLists = map[string]ownList{
	"load_entries":       {path: "/v1/threads/{thread}/entries"},
	"list_values":        {path: "/v1/values"},
	"list_threads":       {path: "/v1/threads"},
	"list_sessions":      {path: "/v1/sessions", renamed: map[string]string{"owner_id": "owner"}},
	"list_reviews":       {path: "/v1/reviews"},
	"list_memories":      {path: "/v1/memory"},
	"list_timers":        {path: "/v1/managers/{manager}/instances/{key}/timers"},
	"list_messages":      {path: "/v1/conversations/{conversation_id}/messages"},
	"checkpoint_history": {path: "/v1/checkpoints/{key}/history"},
	"thaw":               {path: "/v1/agents/{key}/thaw"},
}

// ownListed returns the path and the parameters of the read's own call, and what decodes its answer. The path is "" if
// there is no such call, or if a member of the read is not one parameter.
func ownListed(r agent.Read) (path string, query url.Values, decode func([]byte) (agent.Found, error)) {
	document, err := readDocument(r)
	name, _ := document["read"].(string)
	own, is := ownLists[name]
	if err != nil || !is || name == "thaw" && document["revision"] != nil {
		return "", nil, nil
	}
	path, query = own.path, url.Values{}
	if name == "list_timers" && document["key"] == nil {
		path = "/v1/managers/{manager}/timers"
	}
	for member, value := range document {
		text, single := parameter(value)
		switch part := "{" + member + "}"; {
		case member == "read":
		case !single:
			return "", nil, nil
		case strings.Contains(path, part):
			path = strings.Replace(path, part, url.PathEscape(text), 1)
		case own.renamed[member] != "":
			query.Set(own.renamed[member], text)
		default:
			query.Set(member, text)
		}
	}
	if load, is := r.(*agent.LoadEntries); is {
		return path, query, bareEntries(load.Thread)
	}
	return path, query, found(name)
}

// parameter returns a member of a document as a parameter; is is false if it is an object or an array.
func parameter(value any) (text string, is bool) {
	switch value.(type) {
	case map[string]any, members, map[string]string, []any, []string:
		return "", false
	default:
		return fmt.Sprint(value), true
	}
}
