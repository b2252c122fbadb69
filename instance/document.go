package instance

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/strictjson"
)

// handleDocument is the built-in handler: a state that signals patch, and a
// thread that signals append to. Invalid data is refused with invalid.
func handleDocument(t *Turn) error {
	var err error
	state := false
	switch t.Type() {
	case agent.SignalGet:
		state = true
		err = decodeField(t.Data(), "data", &struct{}{})
	case agent.SignalPatch:
		err = t.Patch(t.Data())
	case agent.SignalAppend, agent.SignalTurn:
		err = documentTurn(t)
	case agent.SignalTimer:
		payload := append(appendString([]byte(`{"type":`), t.Type()), `,"data":`...)
		payload = append(append(payload, t.Data()...), '}')
		t.Append(agent.Draft{Kind: agent.KindSignalIn, Payload: payload})
	default:
		err = agent.Handler{Kind: agent.HandlerDocument}.Takes(t.Type())
	}
	t.makeReply = func(rev, revision uint64) agent.JSON {
		reply := fmt.Appendf(nil, `{"rev":%d,"revision":%d`, rev, revision)
		if state {
			reply = append(append(reply, `,"state":`...), t.state...)
		}
		return append(reply, '}')
	}
	return err
}

// documentTurn handles the signals append and turn.
func documentTurn(t *Turn) error {
	var want struct {
		Entries document.Drafts `json:"entries"`
		Patch   jsontext.Value  `json:"patch"`
		Timers  jsontext.Value  `json:"timers"`
		Cron    jsontext.Value  `json:"cron"`
	}
	if err := decodeField(t.Data(), "data", &want); err != nil {
		return err
	}
	if t.Type() == agent.SignalAppend {
		switch {
		case len(want.Entries) == 0:
			return agent.Invalid("entries", "entries are missing: give one or many")
		case want.Patch != nil || want.Timers != nil || want.Cron != nil:
			return agent.Invalid("data", "append takes entries alone: send %s", agent.SignalTurn)
		}
	}
	t.Append(want.Entries.ToAgent()...)
	if err := t.setTimers(want.Timers); err != nil {
		return err
	}
	if isSet(want.Cron) {
		if err := t.PatchCron(agent.JSON(want.Cron)); err != nil {
			return err
		}
	}
	if isSet(want.Patch) {
		return t.Patch(agent.JSON(want.Patch))
	}
	return nil
}

func isSet(raw jsontext.Value) bool { return len(raw) > 0 && string(raw) != "null" }

// decodeField decodes a field of a signal. Unknown members are refused.
func decodeField(raw agent.JSON, field string, into any) error {
	err := strictjson.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	why := document.Reason(err, field)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field += string(semantic.JSONPointer)
	}
	return agent.Invalid(field, "the signal is invalid: %s", why)
}

// appendString appends a text as a JSON string. The text is valid UTF-8:
// request validation refuses anything else.
func appendString(out []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(out, text)
	if err != nil {
		return append(out, strconv.Quote("")...)
	}
	return quoted
}

// signalID returns the id of a signal's request in an entry's refs.
func signalID(r agent.Request) string { return r.Client + "/" + strconv.FormatUint(r.Seq, 10) }
