package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

type memoryDoc struct {
	AgentID     string         `json:"agent_id"`
	ID          string         `json:"id"`
	Incarnation uint64         `json:"incarnation"`
	Revision    uint64         `json:"revision"`
	SessionID   string         `json:"session_id,omitzero"`
	Class       string         `json:"class"`
	Kind        string         `json:"kind"`
	Content     string         `json:"content"`
	Data        jsontext.Value `json:"data,omitempty"`
	Tags        []string       `json:"tags"`
	Source      string         `json:"source,omitzero"`
	Metadata    jsontext.Value `json:"metadata"`
	Embedding   []float32      `json:"embedding,omitempty"`
	ObservedAt  int64          `json:"observed_at"`
	CreatedAt   int64          `json:"created_at"`
	UpdatedAt   int64          `json:"updated_at"`
	ExpiresAt   int64          `json:"expires_at,omitzero"`
}

func memoryOf(m agent.Memory) memoryDoc {
	return memoryDoc{
		AgentID: m.Agent, ID: m.ID, Incarnation: m.Incarnation, Revision: m.Revision, SessionID: m.Session, Class: m.Class, Kind: m.Kind,
		Content: m.Content, Data: jsontext.Value(m.Data), Tags: m.Tags, Source: m.Source, Metadata: object(m.Metadata), Embedding: m.Embedding,
		ObservedAt: m.ObservedAt, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ExpiresAt: m.ExpiresAt,
	}
}

type memoryWrittenDoc struct {
	AgentID     string `json:"agent_id"`
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
}

func memoryWritten(r *agent.MemoryResult) memoryWrittenDoc {
	return memoryWrittenDoc{
		AgentID: r.Agent, ID: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

type recalledDoc struct {
	Items    []recalledMemoryDoc `json:"items"`
	Metadata recallMetadataDoc   `json:"metadata"`
}

type recalledMemoryDoc struct {
	memoryDoc
	Score float64 `json:"score"`
}

type recallMetadataDoc struct {
	Entries uint64 `json:"entries"`
	Matched uint64 `json:"matched"`
}

func recalledOf(r *agent.Recalled) recalledDoc {
	doc := recalledDoc{Items: []recalledMemoryDoc{}, Metadata: recallMetadataDoc{Entries: r.Entries, Matched: r.Matched}}
	for _, item := range r.Items {
		doc.Items = append(doc.Items, recalledMemoryDoc{memoryDoc: memoryOf(item.Memory), Score: item.Score})
	}
	return doc
}

// writeMemoryDoc and deleteMemoryDoc are ops of a commit.
type writeMemoryDoc struct {
	opName
	guardDoc
	AgentID    string          `json:"agent_id"`
	ID         string          `json:"id"`
	SessionID  string          `json:"session_id"`
	Class      string          `json:"class"`
	Kind       string          `json:"kind"`
	Content    strictjson.Text `json:"content"`
	Data       jsontext.Value  `json:"data"`
	Tags       []string        `json:"tags"`
	Source     string          `json:"source"`
	Metadata   jsontext.Value  `json:"metadata"`
	Embedding  []float32       `json:"embedding"`
	ObservedAt *int64          `json:"observed_at"`
	ExpiresAt  int64           `json:"expires_at"`
	TTL        milliseconds    `json:"ttl_ms"`
	IfRevision *uint64         `json:"if_revision"`
}

func (d *writeMemoryDoc) op() (agent.Op, error) {
	return &agent.WriteMemory{
		Agent: d.AgentID, ID: d.ID, Session: d.SessionID, Class: d.Class, Kind: d.Kind, Content: string(d.Content), Data: agent.JSON(d.Data), Tags: d.Tags,
		Source: d.Source, Metadata: agent.JSON(d.Metadata), Embedding: d.Embedding, ObservedAt: d.ObservedAt, ExpiresAt: d.ExpiresAt,
		TTL: d.TTL.span(), IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation,
	}, nil
}

type deleteMemoryDoc struct {
	opName
	guardDoc
	AgentID    string       `json:"agent_id"`
	ID         string       `json:"id"`
	IfRevision *uint64      `json:"if_revision"`
	Seal       milliseconds `json:"seal_ms"`
}

func (d *deleteMemoryDoc) op() (agent.Op, error) {
	return &agent.DeleteMemory{Agent: d.AgentID, ID: d.ID, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: d.Seal.span()}, nil
}
