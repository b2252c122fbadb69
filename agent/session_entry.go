package agent

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// DecisionEntry returns the entry that the state machine adds to the session's thread
// when a review is decided or expires.
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

// TurnRolledBackEntry returns the entry that the state machine adds to a session's
// thread when a turn is rolled back. Entries from seq from to seq to are the turn's.
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

// object is an unfinished JSON object.
type object []byte

func newObject() *object { return &object{'{'} }

func (o *object) raw(name string, value []byte) {
	quoted, _ := jsontext.AppendQuote(nil, name) // all names are UTF-8
	*o = appendMember(*o, quoted, value)
}

// text appends a string member. Validate and the log's format have ensured that ids
// and notes are UTF-8.
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
