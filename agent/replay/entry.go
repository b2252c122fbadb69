package replay

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// named holds the members of an entry's refs or payload that say what the entry is
// about. They may be any JSON, because callers write them.
type named struct {
	Session   jsontext.Value `json:"session_id"`
	Request   jsontext.Value `json:"request_id"`
	Seq       jsontext.Value `json:"seq"`
	Event     jsontext.Value `json:"event"`
	Effect    jsontext.Value `json:"effect_id"`
	Operation jsontext.Value `json:"operation"`
	Review    jsontext.Value `json:"review_id"`
	Status    jsontext.Value `json:"status"`
	By        jsontext.Value `json:"by"`
}

// entryEvents returns the events of a thread's entries, without those of other
// sessions.
func entryEvents(session string, entries []agent.Entry) []Event {
	var all []Event
	for _, e := range entries {
		refs, payload := namedIn(e.Refs), namedIn(e.Payload)
		if owner := text(refs.Session); owner != "" && owner != session {
			continue
		}
		seq := e.Seq
		event := Event{
			At: e.At, What: Entry, ID: e.ID, Seq: &seq, Data: e.Payload,
			Request: either(refs.Request, payload.Request), Name: either(refs.Event, payload.Event),
			Effect: either(refs.Effect, payload.Effect), Operation: either(refs.Operation, payload.Operation),
		}
		if event.Name == "" {
			event.Name = e.Kind
		}
		if review := text(payload.Review); e.Kind == agent.KindReviewDecision && review != "" {
			event.What, event.Effect, event.By, event.Status = Decided, review, text(payload.By), text(payload.Status)
		}
		event.identity = identity{
			request: event.Request, seq: either(refs.Seq, payload.Seq), event: event.Name, effect: event.Effect, operation: event.Operation,
		}
		if event.identity.seq == "" && event.Effect == "" || event.Request == "" && event.What == Entry {
			event.identity = identity{seq: "#" + strconv.FormatUint(seq, 10)} // nothing else distinguishes it
		}
		all = append(all, event)
	}
	return all
}

// namedIn returns the named members of a document; none if it cannot be decoded.
func namedIn(raw agent.JSON) (n named) {
	if err := json.Unmarshal(raw, &n); err != nil {
		return named{}
	}
	return n
}

func either(first, second jsontext.Value) string {
	if s := text(first); s != "" {
		return s
	}
	return text(second)
}

// text returns a string or a number as text; "" for any other JSON.
func text(raw jsontext.Value) string {
	switch raw.Kind() {
	case '"':
		s, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return ""
		}
		return string(s)
	case '0':
		return string(raw)
	default:
		return ""
	}
}
