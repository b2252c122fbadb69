package document

import (
	"dormouse/agent"
	"dormouse/internal/strictjson"
)

var memoryOps = map[string]func() wireOp{
	"write_memory":  func() wireOp { return new(writeMemoryOp) },
	"delete_memory": func() wireOp { return new(deleteMemoryOp) },
}

// MemoryBody is a memory in a request.
type MemoryBody struct {
	Content       strictjson.Text `json:"content,omitempty" doc:"Content or data is required"`
	Data          JSON            `json:"data,omitempty"`
	SessionID     string          `json:"session_id,omitempty" doc:"None if absent"`
	Class         string          `json:"class,omitempty" enum:"episodic,semantic,procedural,working" doc:"episodic if absent"`
	Kind          string          `json:"kind,omitempty" doc:"Any string; event if absent"`
	Tags          []string        `json:"tags,omitempty"`
	Source        string          `json:"source,omitempty"`
	Metadata      JSON            `json:"metadata,omitempty"`
	Embedding     []float32       `json:"embedding,omitempty" doc:"Must have as many dimensions as the agent's other memories"`
	ObservedAt    *int64          `json:"observed_at,omitempty" doc:"When it happened; now if absent"`
	ExpiresAt     int64           `json:"expires_at,omitempty" doc:"Never if absent"`
	TTLMS         uint64          `json:"ttl_ms,omitempty" doc:"Instead of expires_at: expire after this time, in log time"`
	IfRevision    *uint64         `json:"if_revision,omitempty" doc:"Apply only at this revision; 0 means that it must not exist"`
	IfIncarnation uint64          `json:"if_incarnation,omitempty"`
}

// ToOp returns the op that the body asks for.
func (b *MemoryBody) ToOp(name, id string) (*agent.WriteMemory, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.WriteMemory{
		Agent: name, ID: id, Session: b.SessionID, Class: b.Class, Kind: b.Kind, Content: string(b.Content), Data: agent.JSON(b.Data), Tags: b.Tags,
		Source: b.Source, Metadata: agent.JSON(b.Metadata), Embedding: b.Embedding, ObservedAt: b.ObservedAt, ExpiresAt: b.ExpiresAt,
		TTL: ttl, IfRevision: b.IfRevision, IfIncarnation: b.IfIncarnation,
	}, err
}

// MemoryStamp is the result of a write of a memory.
type MemoryStamp struct {
	AgentID     string `json:"agent_id"`
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
}

// MemoryStampOf returns the document of r.
func MemoryStampOf(r *agent.MemoryResult) MemoryStamp {
	return MemoryStamp{
		AgentID: r.Agent, ID: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

// Memory is a stored memory.
type Memory struct {
	AgentID     string    `json:"agent_id"`
	ID          string    `json:"id"`
	Incarnation uint64    `json:"incarnation"`
	Revision    uint64    `json:"revision"`
	SessionID   string    `json:"session_id,omitzero"`
	Class       string    `json:"class"`
	Kind        string    `json:"kind"`
	Content     string    `json:"content"`
	Data        JSON      `json:"data,omitzero"`
	Tags        []string  `json:"tags" nullable:"false"`
	Source      string    `json:"source,omitzero"`
	Metadata    JSON      `json:"metadata"`
	Embedding   []float32 `json:"embedding,omitempty" doc:"Only in a read of the memory by its id"`
	ObservedAt  int64     `json:"observed_at"`
	CreatedAt   int64     `json:"created_at"`
	UpdatedAt   int64     `json:"updated_at"`
	ExpiresAt   int64     `json:"expires_at,omitzero"`
}

// MemoryOf returns the document of m.
func MemoryOf(m agent.Memory) Memory {
	return Memory{
		AgentID: m.Agent, ID: m.ID, Incarnation: m.Incarnation, Revision: m.Revision, SessionID: m.Session, Class: m.Class, Kind: m.Kind,
		Content: m.Content, Data: JSON(m.Data), Tags: m.Tags, Source: m.Source, Metadata: JSON(m.Metadata), Embedding: m.Embedding,
		ObservedAt: m.ObservedAt, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ExpiresAt: m.ExpiresAt,
	}
}

type writeMemoryOp struct {
	opName
	AgentID string `json:"agent_id"`
	ID      string `json:"id,omitempty" doc:"Derived from the content if absent"`
	MemoryBody
}

func (o *writeMemoryOp) op() (agent.Op, error) { return o.ToOp(o.AgentID, o.ID) }

type deleteMemoryOp struct {
	opName
	AgentID       string  `json:"agent_id"`
	ID            string  `json:"id"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

func (o *deleteMemoryOp) op() (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMS)
	return &agent.DeleteMemory{Agent: o.AgentID, ID: o.ID, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}
