package document

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

var entryOps = map[string]func() wireOp{
	"append_thread": func() wireOp { return new(appendThreadOp) },
}

// Draft is an entry in a request.
type Draft struct {
	ID          string  `json:"id,omitempty" doc:"Unique in the thread; generated if absent"`
	At          *int64  `json:"at,omitempty" doc:"Unix ms; log time if absent"`
	Kind        string  `json:"kind,omitempty" doc:"note if absent"`
	Payload     JSON    `json:"payload,omitempty"`
	Refs        JSON    `json:"refs,omitempty"`
	ContentType string  `json:"content_type,omitempty" doc:"Of bytes; application/octet-stream if absent"`
	Bytes       []byte  `json:"bytes,omitempty" doc:"Kept as they are, beside the payload; POST /v1/threads/{id}/bytes sends them without base64"`
	Seq         *uint64 `json:"seq,omitempty" doc:"Ignored, so that an entry can be sent as it was read: the thread numbers its entries"`
}

// UnmarshalJSONFrom refuses null, which would otherwise become an empty entry.
func (d *Draft) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == 'n' {
		return agent.Invalid(strictjson.FieldAt(dec.StackPointer(), "entries"), "an entry is null, and should be an object")
	}
	type members Draft
	return json.UnmarshalDecode(dec, (*members)(d))
}

// ToAgent returns the entry.
func (d Draft) ToAgent() agent.Draft {
	return agent.Draft{ID: d.ID, At: d.At, Kind: d.Kind, Payload: agent.JSON(d.Payload), Refs: agent.JSON(d.Refs), ContentType: d.ContentType, Bytes: d.Bytes}
}

// Drafts is one entry or a list of entries.
type Drafts []Draft

// UnmarshalJSONFrom decodes an object as an array of one.
func (d *Drafts) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*d = nil
	if dec.PeekKind() != '{' {
		return json.UnmarshalDecode(dec, (*[]Draft)(d))
	}
	*d = make(Drafts, 1)
	return json.UnmarshalDecode(dec, &(*d)[0])
}

// ToAgent returns the entries.
func (d Drafts) ToAgent() []agent.Draft {
	out := make([]agent.Draft, len(d))
	for i, each := range d {
		out[i] = each.ToAgent()
	}
	return out
}

// Entry is a stored entry.
type Entry struct {
	ID          string `json:"id"`
	Seq         uint64 `json:"seq"`
	At          int64  `json:"at"`
	Kind        string `json:"kind"`
	Payload     JSON   `json:"payload"`
	Refs        JSON   `json:"refs"`
	ContentType string `json:"content_type,omitzero" doc:"Of bytes, if the entry has any"`
	Bytes       []byte `json:"bytes,omitempty" doc:"GET /v1/threads/{id}/entries/{entry}/bytes returns them without base64"`
}

// EntryOf returns the document of e.
func EntryOf(e agent.Entry) Entry {
	return Entry{ID: e.ID, Seq: e.Seq, At: e.At, Kind: e.Kind, Payload: JSON(e.Payload), Refs: JSON(e.Refs), ContentType: e.ContentType, Bytes: e.Bytes}
}

func entriesOf(all []agent.Entry) []Entry {
	out := make([]Entry, len(all))
	for i, e := range all {
		out[i] = EntryOf(e)
	}
	return out
}

// EntryStamp is where an entry was stored.
type EntryStamp struct {
	ID      string `json:"id"`
	Seq     uint64 `json:"seq"`
	At      int64  `json:"at"`
	Skipped bool   `json:"skipped,omitzero" doc:"An entry of that id existed and was kept: on_exists = skip"`
}

// AppendBody is an append to a thread.
type AppendBody struct {
	Entries       Drafts  `json:"entries,omitempty"`
	ExpectedRev   *uint64 `json:"expected_rev,omitempty" doc:"Apply only at this rev; a missing thread is at 0"`
	ExpectedHead  string  `json:"expected_head,omitempty" doc:"Apply only at this head, in hex"`
	Metadata      JSON    `json:"metadata,omitempty" doc:"Applied while the rev is 0"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	OnExists      string  `json:"on_exists,omitempty" enum:"refuse,skip" doc:"skip keeps an entry whose id exists, also one with other content; refuse if absent"`
	CreateOnly    bool    `json:"create_only,omitempty" doc:"The thread must not exist"`
}

// ToOp returns the op that the body asks for.
func (b *AppendBody) ToOp(thread string) (*agent.AppendThread, error) {
	skip, err := skipsExisting(b.OnExists, existsRefuse)
	return &agent.AppendThread{
		Thread:        thread,
		Entries:       b.Entries.ToAgent(),
		ExpectedRev:   b.ExpectedRev,
		ExpectedHead:  b.ExpectedHead,
		Metadata:      agent.JSON(b.Metadata),
		IfIncarnation: b.IfIncarnation,
		SkipExisting:  skip,
		CreateOnly:    b.CreateOnly,
	}, err
}

// EntryPage is the result of a load.
type EntryPage struct {
	Incarnation uint64  `json:"incarnation" doc:"Of the thread, for a watch that begins where the page ends"`
	Rev         uint64  `json:"rev" doc:"Of the thread, or at_rev if it was given"`
	Head        string  `json:"head"`
	Floor       uint64  `json:"floor" doc:"The first seq that is still stored"`
	Items       []Entry `json:"items" nullable:"false"`
	Next        *uint64 `json:"next" doc:"The from of the next page; null at the end"`
}

// EntryPageOf returns the document of e.
func EntryPageOf(e *agent.Entries) EntryPage {
	return EntryPage{
		Incarnation: e.Thread.Incarnation, Rev: e.Thread.Rev, Head: e.Thread.Head.String(), Floor: e.Thread.Floor,
		Items: entriesOf(e.Items), Next: e.Next,
	}
}

type appendThreadOp struct {
	opName
	Thread string `json:"thread"`
	AppendBody
}

func (o *appendThreadOp) op() (agent.Op, error) { return o.ToOp(o.Thread) }
