package rest

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// draft is an entry as a caller hands it in.
type draft struct {
	ID      string   `json:"id,omitempty" doc:"Unique in the thread; generated where absent"`
	At      *int64   `json:"at,omitempty" doc:"Unix ms; the log's time where absent"`
	Kind    string   `json:"kind,omitempty" doc:"note where absent"`
	Payload document `json:"payload,omitempty"`
	Refs    document `json:"refs,omitempty"`
	Seq     *uint64  `json:"seq,omitempty" doc:"Taken and ignored, so that an entry may be sent as it was read: the thread numbers its entries"`
}

// UnmarshalJSONFrom refuses null, which would otherwise be an empty entry.
func (d *draft) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == 'n' {
		return agent.Invalid(fieldAt(dec.StackPointer(), "entries"), "an entry is null, and should be an object")
	}
	type members draft
	return json.UnmarshalDecode(dec, (*members)(d))
}

func (d draft) draft() agent.Draft {
	return agent.Draft{ID: d.ID, At: d.At, Kind: d.Kind, Payload: agent.JSON(d.Payload), Refs: agent.JSON(d.Refs)}
}

// drafts are one entry or many.
type drafts []draft

// UnmarshalJSONFrom takes an object for an array of one.
func (d *drafts) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*d = nil
	if dec.PeekKind() != '{' {
		return json.UnmarshalDecode(dec, (*[]draft)(d))
	}
	*d = make(drafts, 1)
	return json.UnmarshalDecode(dec, &(*d)[0])
}

func (d drafts) drafts() []agent.Draft {
	out := make([]agent.Draft, len(d))
	for i, each := range d {
		out[i] = each.draft()
	}
	return out
}

// entry is an entry as it is stored.
type entry struct {
	ID      string   `json:"id"`
	Seq     uint64   `json:"seq"`
	At      int64    `json:"at"`
	Kind    string   `json:"kind"`
	Payload document `json:"payload"`
	Refs    document `json:"refs"`
}

func entryOf(e agent.Entry) entry {
	return entry{ID: e.ID, Seq: e.Seq, At: e.At, Kind: e.Kind, Payload: document(e.Payload), Refs: document(e.Refs)}
}

func entriesOf(all []agent.Entry) []entry {
	out := make([]entry, len(all))
	for i, e := range all {
		out[i] = entryOf(e)
	}
	return out
}

// entryStamp says where an entry went.
type entryStamp struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`
	At  int64  `json:"at"`
}

// appendBody is an append to a thread.
type appendBody struct {
	Entries       drafts   `json:"entries,omitempty"`
	ExpectedRev   *uint64  `json:"expected_rev,omitempty" doc:"Apply only at this rev; a missing thread is at 0"`
	ExpectedHead  string   `json:"expected_head,omitempty" doc:"Apply only at this head, in hex"`
	Metadata      document `json:"metadata,omitempty" doc:"Honoured while the rev is 0"`
	IfIncarnation uint64   `json:"if_incarnation,omitempty"`
}

func (b *appendBody) ToOp(thread string) *agent.AppendThread {
	return &agent.AppendThread{
		Thread:        thread,
		Entries:       b.Entries.drafts(),
		ExpectedRev:   b.ExpectedRev,
		ExpectedHead:  b.ExpectedHead,
		Metadata:      agent.JSON(b.Metadata),
		IfIncarnation: b.IfIncarnation,
	}
}

// entryPage answers a load.
type entryPage struct {
	Rev   uint64  `json:"rev" doc:"Of the thread, at at_rev where that was asked"`
	Head  string  `json:"head"`
	Floor uint64  `json:"floor" doc:"The first seq that is still there"`
	Items []entry `json:"items" nullable:"false"`
	Next  *uint64 `json:"next" doc:"The from of the next page; null at the end"`
}

func entryPageOf(e *agent.Entries) entryPage {
	return entryPage{
		Rev: e.Thread.Rev, Head: e.Thread.Head.String(), Floor: e.Thread.Floor,
		Items: entriesOf(e.Items), Next: e.Next,
	}
}

func (f *front) routeEntries() {
	const tag, path = "threads", "/v1/threads/{id}/entries"
	register(f, route{
		method: http.MethodPost, path: path, id: "append-entries", tag: tag, summary: "Append entries, creating the thread where there is none",
		effect: writes, condition: "expected_rev", bodyNeeded: true, creates: true, answers: threadStamp{},
	}, (*call).appendEntries)
	register(f, route{
		method: http.MethodGet, path: path, id: "load-entries", tag: tag, summary: "Read entries in seq order",
		effect: reads, query: []string{"from", "to", "tail", "kind", "at_rev", "limit"}, answers: entryPage{},
	}, (*call).loadEntries)
	register(f, route{
		method: http.MethodGet, path: path + "/{entry}", id: "get-entry", tag: tag, summary: "Read one entry by its id",
		effect: reads, answers: entry{},
	}, (*call).getEntry)
	f.routeWatch()
}

func (c *call) appendEntries(body *appendBody) error {
	op := body.ToOp(c.id("id"))
	op.ExpectedRev = c.conditioned(op.ExpectedRev)
	return c.answerAppend(op)
}

// answerAppend makes a commit of one append.
func (c *call) answerAppend(op *agent.AppendThread) error {
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{revision: &done.Thread.Rev, body: threadStampOf(done)}
	// A thread is new while its rev is 0. Its time tells a first append from a
	// later one that finds its entries there already.
	first := len(done.Entries) == 0 && done.Thread.Rev == 0 || len(done.Entries) > 0 && done.Entries[0].Seq == 0
	if first && done.Thread.CreatedAt == result.Time {
		a.location = location("threads", done.Thread.ID)
	}
	return c.answer(a)
}

func (c *call) loadEntries(*none) error {
	found, err := read[*agent.Entries](c, &agent.LoadEntries{
		Thread: c.id("id"),
		From:   c.number("from"),
		To:     c.optional("to"),
		Tail:   c.number("tail"),
		AtRev:  c.optional("at_rev"),
		Kinds:  c.query["kind"],
		Limit:  c.number("limit"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Thread.Rev, body: entryPageOf(found)})
}

func (c *call) getEntry(*none) error {
	found, err := read[*agent.Entry](c, &agent.GetEntry{Thread: c.id("id"), Entry: c.id("entry")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: entryOf(*found)})
}
