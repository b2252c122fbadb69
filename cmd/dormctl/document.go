package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// The documents below are what -o json and -o yaml show. Their names are the
// HTTP contract's, so that scripts can go from one to the other.

type pointerDoc struct {
	ID          string `json:"id"`
	Rev         uint64 `json:"rev"`
	Head        string `json:"head,omitzero"`
	Incarnation uint64 `json:"incarnation,omitzero"`
}

func pointerOf(p *agent.Pointer) *pointerDoc {
	if p == nil {
		return nil
	}
	return &pointerDoc{ID: p.Thread, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

type checkpointDoc struct {
	Key         string         `json:"key"`
	Incarnation uint64         `json:"incarnation"`
	Revision    uint64         `json:"revision"`
	Version     uint64         `json:"version"`
	State       jsontext.Value `json:"state"`
	Thread      *pointerDoc    `json:"thread"`
	Lifecycle   string         `json:"lifecycle,omitzero"`
	Metadata    jsontext.Value `json:"metadata"`
	CreatedAt   int64          `json:"created_at"`
	UpdatedAt   int64          `json:"updated_at"`
	ExpiresAt   int64          `json:"expires_at,omitzero"`
}

func checkpointOf(c agent.Checkpoint) checkpointDoc {
	return checkpointDoc{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Version: c.Version,
		State: object(c.State), Thread: pointerOf(c.Thread), Lifecycle: c.Lifecycle, Metadata: object(c.Metadata),
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}
}

// object is JSON that stands even where there is none.
func object(j agent.JSON) jsontext.Value {
	if len(j) == 0 {
		return jsontext.Value("{}")
	}
	return jsontext.Value(j)
}

type checkpointRowDoc struct {
	Key         string      `json:"key"`
	Incarnation uint64      `json:"incarnation"`
	Revision    uint64      `json:"revision"`
	Bytes       uint64      `json:"bytes"`
	Thread      *pointerDoc `json:"thread"`
	Lifecycle   string      `json:"lifecycle,omitzero"`
	UpdatedAt   int64       `json:"updated_at"`
	ExpiresAt   int64       `json:"expires_at,omitzero"`
}

func checkpointRowOf(r agent.CheckpointRow) checkpointRowDoc {
	return checkpointRowDoc{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, Bytes: r.Bytes, Thread: pointerOf(r.Thread),
		Lifecycle: r.Lifecycle, UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
	}
}

// writtenDoc answers a write of a checkpoint or a value.
type writtenDoc struct {
	Key         string      `json:"key"`
	Incarnation uint64      `json:"incarnation"`
	Revision    uint64      `json:"revision"`
	CreatedAt   int64       `json:"created_at"`
	UpdatedAt   int64       `json:"updated_at"`
	Thread      *pointerDoc `json:"thread,omitzero"`
}

func checkpointWritten(r *agent.CheckpointResult) writtenDoc {
	return writtenDoc{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: pointerOf(r.Thread),
	}
}

func valueWritten(r *agent.ValueResult) writtenDoc {
	return writtenDoc{Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

type deletedDoc struct {
	ID          string `json:"id,omitzero"`
	Existed     bool   `json:"existed"`
	Incarnation uint64 `json:"incarnation,omitzero"`
}

func deletedOf(r *agent.DeleteResult) deletedDoc {
	return deletedDoc{Existed: r.Existed, Incarnation: r.Incarnation}
}

type statsDoc struct {
	EntryCount uint64 `json:"entry_count"`
}

type forkDoc struct {
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Rev         uint64 `json:"rev"`
}

type threadDoc struct {
	ID          string         `json:"id"`
	Incarnation uint64         `json:"incarnation"`
	Rev         uint64         `json:"rev"`
	Head        string         `json:"head"`
	Floor       uint64         `json:"floor"`
	Summary     jsontext.Value `json:"summary,omitzero"`
	CreatedAt   int64          `json:"created_at"`
	UpdatedAt   int64          `json:"updated_at"`
	Metadata    jsontext.Value `json:"metadata"`
	ForkedFrom  *forkDoc       `json:"forked_from,omitzero"`
	ExpiresAt   int64          `json:"expires_at,omitzero"`
	Stats       statsDoc       `json:"stats"`
}

func threadOf(t agent.Thread) threadDoc {
	doc := threadDoc{
		ID: t.ID, Incarnation: t.Incarnation, Rev: t.Rev, Head: t.Head.String(), Floor: t.Floor, ExpiresAt: t.ExpiresAt,
		Summary: jsontext.Value(t.Summary), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Metadata: object(t.Metadata),
		Stats: statsDoc{EntryCount: t.Rev - t.Floor},
	}
	if f := t.ForkedFrom; f != nil {
		doc.ForkedFrom = &forkDoc{ID: f.Thread, Incarnation: f.Incarnation, Rev: f.Rev}
	}
	return doc
}

type entryDoc struct {
	ID      string         `json:"id"`
	Seq     uint64         `json:"seq"`
	At      int64          `json:"at"`
	Kind    string         `json:"kind"`
	Payload jsontext.Value `json:"payload"`
	Refs    jsontext.Value `json:"refs"`
}

func entryOf(e agent.Entry) entryDoc {
	return entryDoc{ID: e.ID, Seq: e.Seq, At: e.At, Kind: e.Kind, Payload: object(e.Payload), Refs: object(e.Refs)}
}

type stampDoc struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`
	At  int64  `json:"at"`
}

// appendedDoc answers an append.
type appendedDoc struct {
	ID        string     `json:"id"`
	Rev       uint64     `json:"rev"`
	Head      string     `json:"head"`
	CreatedAt int64      `json:"created_at"`
	UpdatedAt int64      `json:"updated_at"`
	Entries   []stampDoc `json:"entries"`
}

func appendedOf(r *agent.ThreadResult) appendedDoc {
	doc := appendedDoc{
		ID: r.Thread.ID, Rev: r.Thread.Rev, Head: r.Thread.Head.String(),
		CreatedAt: r.Thread.CreatedAt, UpdatedAt: r.Thread.UpdatedAt, Entries: []stampDoc{},
	}
	for _, e := range r.Entries {
		doc.Entries = append(doc.Entries, stampDoc(e))
	}
	return doc
}

type valueDoc struct {
	Key         string         `json:"key"`
	Incarnation uint64         `json:"incarnation"`
	Revision    uint64         `json:"revision"`
	ContentType string         `json:"content_type"`
	Bytes       []byte         `json:"bytes"` // base64
	Metadata    jsontext.Value `json:"metadata,omitzero"`
	CreatedAt   int64          `json:"created_at"`
	UpdatedAt   int64          `json:"updated_at"`
	ExpiresAt   int64          `json:"expires_at,omitzero"`
}

type valueRowDoc struct {
	Key         string         `json:"key"`
	Incarnation uint64         `json:"incarnation"`
	Revision    uint64         `json:"revision"`
	ContentType string         `json:"content_type"`
	Size        uint64         `json:"bytes"`
	Metadata    jsontext.Value `json:"metadata,omitzero"`
	UpdatedAt   int64          `json:"updated_at"`
	ExpiresAt   int64          `json:"expires_at,omitzero"`
}

func valueRowOf(r agent.ValueRow) valueRowDoc {
	return valueRowDoc{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, ContentType: r.ContentType, Size: r.Size,
		Metadata: jsontext.Value(r.Metadata), UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
	}
}

type policyDoc struct {
	History  uint64 `json:"history"`
	KeysMax  uint64 `json:"keys_max"`
	BytesMax uint64 `json:"bytes_max"`

	HistoryAgeMS uint64 `json:"history_age_ms,omitzero"`

	MemoriesMax    uint64 `json:"memories_max,omitzero"`
	MemoryBytesMax uint64 `json:"memory_bytes_max,omitzero"`

	ChangesMax uint64 `json:"changes_max,omitzero"`
}

type scopeDoc struct {
	Name      string    `json:"name"`
	Keys      uint64    `json:"keys"`
	Bytes     uint64    `json:"bytes"`
	CreatedAt int64     `json:"created_at"`
	Policy    policyDoc `json:"policy"`
}

func scopeOf(s agent.Scope) scopeDoc {
	return scopeDoc{Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt, Policy: policyDoc(s.Policy)}
}

// pageDoc is a page of a list.
type pageDoc[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"` // pass as --after; null at the end
}

func pageOf[R, T any](rows []R, next string, document func(R) T) pageDoc[T] {
	page := pageDoc[T]{Items: []T{}}
	for _, row := range rows {
		page.Items = append(page.Items, document(row))
	}
	if next != "" {
		page.Next = &next
	}
	return page
}
