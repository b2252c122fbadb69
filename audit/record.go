package audit

import (
	"encoding/json"
	"fmt"
	"time"

	"dormouse/internal/clip"
)

// Kind is the kind of a record.
type Kind string

// The kinds of records.
const (
	KindDenial   Kind = "denial"   // a call that was refused: unauthenticated or forbidden
	KindAdmin    Kind = "admin"    // members, leadership, join tokens, the feature level
	KindBackup   Kind = "backup"   // a backup of the store, the export or import of a scope
	KindDelete   Kind = "delete"   // of a scope, an agent or other data
	KindToken    Kind = "token"    // created or revoked
	KindPolicy   Kind = "policy"   // of a scope
	KindDecision Kind = "decision" // of a review
	KindFile     Kind = "file"     // the first line of each file
	KindStart    Kind = "start"    // a node opened the log
	KindGap      Kind = "gap"      // lines were not written
)

// Phase says which part of a call a record is about. A call that waits for its record has two: one
// before it is made, and one with its outcome.
type Phase string

// The phases of a call.
const (
	PhaseBegin Phase = "begin"
	PhaseEnd   Phase = "end"
)

// Record is one line of the log. The log sets Seq, Time and Node, and the members of KindFile,
// KindStart and KindGap.
type Record struct {
	Seq   uint64 `json:"seq"`
	Time  string `json:"time"` // RFC 3339, UTC
	Node  string `json:"node"`
	Kind  Kind   `json:"kind"`
	Phase Phase  `json:"phase,omitempty"`
	Begin uint64 `json:"begin,omitempty"` // of PhaseEnd: the seq of the line with PhaseBegin

	Principal string `json:"principal,omitempty"` // "" if the caller proved none
	Token     string `json:"token,omitempty"`     // the id of its token, never the secret
	Source    string `json:"source,omitempty"`    // where the principal comes from, such as token
	Address   string `json:"address,omitempty"`   // of the caller
	Method    string `json:"method,omitempty"`    // the HTTP operation, or the gRPC method

	Action  string   `json:"action,omitempty"` // the op, read or call, such as delete_thread
	Verb    string   `json:"verb,omitempty"`   // the rights that it needs, such as admin
	Scope   string   `json:"scope,omitempty"`
	Object  []string `json:"object,omitempty"`   // the ids that name the object
	Detail  string   `json:"detail,omitempty"`   // such as why a call was refused
	Outcome string   `json:"outcome,omitempty"`  // ok, or the code of the error; "" of PhaseBegin
	Index   uint64   `json:"index,omitempty"`    // of the log entry, if the call made one
	Bytes   int64    `json:"bytes,omitempty"`    // of a backup
	LeftOut uint64   `json:"left_out,omitempty"` // denials of the same address that have no line; of KindGap all lines that were not written

	Prev   string `json:"prev,omitempty"`   // of KindFile: the hash of the line before
	Key    string `json:"key,omitempty"`    // of KindFile and KindStart: the id of the key of the lines from here on
	Torn   int    `json:"torn,omitempty"`   // of KindStart: bytes of an unfinished last line, which were removed
	Broken string `json:"broken,omitempty"` // of KindStart: what was wrong with the log before
}

// Limits of a record. Longer texts are cut.
const (
	textBytesMax = 512
	objectMax    = 8 // ids
	lineBytesMax = 64 << 10
)

// Outcome of a call that succeeded.
const outcomeOK = "ok"

// encode returns the record as a JSON object.
func (r *Record) encode() ([]byte, error) {
	for _, text := range []*string{&r.Principal, &r.Token, &r.Source, &r.Address, &r.Method, &r.Action, &r.Verb, &r.Scope, &r.Detail} {
		*text = clip.Marked(*text, textBytesMax)
	}
	r.Object = r.Object[:min(len(r.Object), objectMax)]
	for i := range r.Object {
		r.Object[i] = clip.Marked(r.Object[i], textBytesMax)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode an audit record: %w", err)
	}
	return raw, nil
}

// stamp returns a time as records hold it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
