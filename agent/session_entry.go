package agent

import (
	"strconv"

	"dormouse/internal/compactjson"
)

// DecisionEntry returns the entry that the state machine adds to the session's thread
// when a review is decided or expires.
func (r Review) DecisionEntry() Draft {
	o := compactjson.NewObject()
	o.Text("review_id", r.ID)
	o.Text("status", string(r.Status))
	o.TextIfSet("operation", r.Operation)
	o.TextIfSet("by", r.DecidedBy)
	o.TextIfSet("note", r.Note)
	if r.Decided != nil {
		o.Raw("arguments", r.Decided)
	}
	return Draft{Kind: KindReviewDecision, Payload: o.Close(), Refs: turnRefs(r.Session, r.RequestID)}
}

// TurnRolledBackEntry returns the entry that the state machine adds to a session's
// thread when a turn is rolled back. Entries from seq from to seq to are the turn's.
func TurnRolledBackEntry(session, request string, from, to uint64) Draft {
	o := compactjson.NewObject()
	o.Raw("from_seq", strconv.AppendUint(nil, from, 10))
	o.Raw("to_seq", strconv.AppendUint(nil, to, 10))
	return Draft{Kind: KindTurnRolledBack, Payload: o.Close(), Refs: turnRefs(session, request)}
}

func turnRefs(session, request string) JSON {
	o := compactjson.NewObject()
	o.Text("session_id", session)
	o.TextIfSet("request_id", request)
	return o.Close()
}
