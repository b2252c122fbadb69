package agent

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// DecisionEntry is what the state machine records of a review in its session's
// thread, once it has been decided or has expired.
func (r Review) DecisionEntry() Draft {
	o := newObject()
	o.text("review_id", r.ID)
	o.text("status", string(r.Status))
	o.optional("operation", r.Operation)
	o.optional("by", r.DecidedBy)
	o.optional("note", r.Note)
	if r.Decided != nil {
		o.raw("arguments", r.Decided)
	}
	return Draft{Kind: KindReviewDecision, Payload: o.close(), Refs: turnRefs(r.Session, r.RequestID)}
}

// TurnRolledBackEntry is what it records of a turn that was undone: the
// entries from one seq to another are the turn's.
func TurnRolledBackEntry(session, request string, from, to uint64) Draft {
	o := newObject()
	o.raw("from_seq", strconv.AppendUint(nil, from, 10))
	o.raw("to_seq", strconv.AppendUint(nil, to, 10))
	return Draft{Kind: KindTurnRolledBack, Payload: o.close(), Refs: turnRefs(session, request)}
}

func turnRefs(session, request string) JSON {
	o := newObject()
	o.text("session_id", session)
	o.optional("request_id", request)
	return o.close()
}

// object is a JSON object that is being written.
type object []byte

func newObject() *object { return &object{'{'} }

func (o *object) raw(name string, value []byte) {
	quoted, _ := jsontext.AppendQuote(nil, name) // our names are UTF-8
	*o = appendMember(*o, quoted, value)
}

// text writes a string. Ids and notes are UTF-8: the door has seen to it, and
// so does the log's format.
func (o *object) text(name, value string) {
	quoted, _ := jsontext.AppendQuote(nil, value)
	o.raw(name, quoted)
}

func (o *object) optional(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) close() JSON { return append(JSON(*o), '}') }
