package httpclient

import (
	"encoding/json"

	"dormouse/agent"
)

// threadDocument is a thread without its entries.
type threadDocument struct {
	ID          string          `json:"id"`
	Incarnation uint64          `json:"incarnation"`
	Rev         uint64          `json:"rev"`
	Head        string          `json:"head"`
	Floor       uint64          `json:"floor"`
	CreatedAt   int64           `json:"created_at"`
	UpdatedAt   int64           `json:"updated_at"`
	Metadata    json.RawMessage `json:"metadata"`
	Summary     json.RawMessage `json:"summary"`
	ExpiresAt   int64           `json:"expires_at"`
	ForkedFrom  *struct {
		ID          string `json:"id"`
		Incarnation uint64 `json:"incarnation"`
		Rev         uint64 `json:"rev"`
	} `json:"forked_from"`
}

func (d threadDocument) agent() (agent.Thread, error) {
	head, err := agent.ParseHead(d.Head)
	t := agent.Thread{
		ID: d.ID, Incarnation: d.Incarnation, Rev: d.Rev, Head: head, Floor: d.Floor, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		Metadata: agent.JSON(d.Metadata), Summary: agent.JSON(d.Summary), ExpiresAt: d.ExpiresAt,
	}
	if from := d.ForkedFrom; from != nil {
		t.ForkedFrom = &agent.ForkPoint{Thread: from.ID, Incarnation: from.Incarnation, Rev: from.Rev}
	}
	return t, err
}

type entryDocument struct {
	ID          string          `json:"id"`
	Seq         uint64          `json:"seq"`
	At          int64           `json:"at"`
	Kind        string          `json:"kind"`
	Payload     json.RawMessage `json:"payload"`
	Refs        json.RawMessage `json:"refs"`
	ContentType string          `json:"content_type"`
	Bytes       []byte          `json:"bytes"`
}

func entries(all []entryDocument) []agent.Entry {
	out := make([]agent.Entry, len(all))
	for i, e := range all {
		out[i] = agent.Entry{
			ID: e.ID, Seq: e.Seq, At: e.At, Kind: e.Kind, Payload: agent.JSON(e.Payload), Refs: agent.JSON(e.Refs), ContentType: e.ContentType, Bytes: e.Bytes,
		}
	}
	return out
}

type checkpointDocument struct {
	stampDocument
	Version   uint64          `json:"version"`
	State     json.RawMessage `json:"state"`
	Lifecycle string          `json:"lifecycle"`
	Metadata  json.RawMessage `json:"metadata"`
	ExpiresAt int64           `json:"expires_at"`
	Bytes     uint64          `json:"bytes"` // of a row
}

func (d checkpointDocument) agent() agent.Checkpoint {
	return agent.Checkpoint{
		Key: d.Key, Incarnation: d.Incarnation, Revision: d.Revision, Version: d.Version, State: agent.JSON(d.State), Thread: d.Thread.agent(),
		Lifecycle: d.Lifecycle, Metadata: agent.JSON(d.Metadata), CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, ExpiresAt: d.ExpiresAt,
	}
}

// found returns how the document that a read found becomes what it found.
func found(read string) func(raw []byte) (agent.Found, error) {
	switch read {
	case "get_value":
		return foundValue
	case "list_values":
		return foundValues
	case "get_checkpoint":
		return as(func(d *checkpointDocument) (agent.Found, error) {
			c := d.agent()
			return &c, nil
		})
	case "checkpoint_history":
		return foundHistory
	case "get_thread":
		return as(func(d *threadDocument) (agent.Found, error) {
			t, err := d.agent()
			return &t, err
		})
	case "load_entries":
		return foundEntries
	case "thaw":
		return foundThawed
	default:
		return formedFound(read)
	}
}

// as decodes a document of one type.
func as[D any](convert func(*D) (agent.Found, error)) func([]byte) (agent.Found, error) {
	return func(raw []byte) (agent.Found, error) {
		d := new(D)
		if err := json.Unmarshal(raw, d); err != nil {
			return nil, err
		}
		return convert(d)
	}
}

func foundValue(raw []byte) (agent.Found, error) {
	var d struct {
		stampDocument
		ContentType string          `json:"content_type"`
		Bytes       []byte          `json:"bytes"`
		Metadata    json.RawMessage `json:"metadata"`
		ExpiresAt   int64           `json:"expires_at"`
	}
	err := json.Unmarshal(raw, &d)
	return &agent.Value{
		Key: d.Key, Incarnation: d.Incarnation, Revision: d.Revision, ContentType: d.ContentType, Bytes: d.Bytes, Metadata: agent.JSON(d.Metadata),
		CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, ExpiresAt: d.ExpiresAt,
	}, err
}

func foundValues(raw []byte) (agent.Found, error) {
	var d struct {
		Items []struct {
			stampDocument
			ContentType string          `json:"content_type"`
			Bytes       uint64          `json:"bytes"`
			Metadata    json.RawMessage `json:"metadata"`
			ExpiresAt   int64           `json:"expires_at"`
		} `json:"items"`
		Next *string `json:"next"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	list := &agent.ValueList{}
	for _, row := range d.Items {
		list.Items = append(list.Items, agent.ValueRow{
			Key: row.Key, Incarnation: row.Incarnation, Revision: row.Revision, ContentType: row.ContentType, Size: row.Bytes, Metadata: agent.JSON(row.Metadata),
			UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
		})
	}
	if d.Next != nil {
		list.Next = *d.Next
	}
	return list, nil
}

func foundHistory(raw []byte) (agent.Found, error) {
	var d struct {
		Items []checkpointDocument `json:"items"`
		Next  *string              `json:"next"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	list := &agent.CheckpointList{}
	for _, row := range d.Items {
		list.Items = append(list.Items, agent.CheckpointRow{
			Key: row.Key, Incarnation: row.Incarnation, Revision: row.Revision, Bytes: row.Bytes, Thread: row.Thread.agent(),
			Lifecycle: row.Lifecycle, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
		})
	}
	if d.Next != nil {
		list.Next = *d.Next
	}
	return list, nil
}

func foundEntries(raw []byte) (agent.Found, error) {
	var d struct {
		Incarnation uint64          `json:"incarnation"`
		Rev         uint64          `json:"rev"`
		Head        string          `json:"head"`
		Floor       uint64          `json:"floor"`
		Items       []entryDocument `json:"items"`
		Next        *uint64         `json:"next"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	head, err := agent.ParseHead(d.Head)
	return &agent.Entries{Thread: agent.Thread{Incarnation: d.Incarnation, Rev: d.Rev, Head: head, Floor: d.Floor}, Items: entries(d.Items), Next: d.Next}, err
}

func foundThawed(raw []byte) (agent.Found, error) {
	var d struct {
		Checkpoint checkpointDocument `json:"checkpoint"`
		Thread     *struct {
			threadDocument
			Entries []entryDocument `json:"entries"`
		} `json:"thread"`
		Ahead uint64 `json:"ahead"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	out := &agent.Thawed{Checkpoint: d.Checkpoint.agent(), Ahead: d.Ahead}
	if d.Thread == nil {
		return out, nil
	}
	t, err := d.Thread.agent()
	out.Thread, out.Entries = &t, entries(d.Thread.Entries)
	return out, err
}
