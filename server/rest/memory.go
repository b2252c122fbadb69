package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// memoryBody is what an agent is to remember, as a caller writes it.
type memoryBody struct {
	Content       strictjson.Text `json:"content,omitempty" doc:"This or data must be there"`
	Data          document        `json:"data,omitempty"`
	SessionID     string          `json:"session_id,omitempty" doc:"None where absent"`
	Class         string          `json:"class,omitempty" enum:"episodic,semantic,procedural,working" doc:"episodic where absent"`
	Kind          string          `json:"kind,omitempty" doc:"Open; event where absent"`
	Tags          []string        `json:"tags,omitempty"`
	Source        string          `json:"source,omitempty"`
	Metadata      document        `json:"metadata,omitempty"`
	Embedding     []float32       `json:"embedding,omitempty" doc:"As long as those that the agent has already"`
	ObservedAt    *int64          `json:"observed_at,omitempty" doc:"When it happened; now where absent"`
	ExpiresAt     int64           `json:"expires_at,omitempty" doc:"Never where absent"`
	TTLMS         uint64          `json:"ttl_ms,omitempty" doc:"Instead of expires_at: expire after so long, in log time"`
	IfRevision    *uint64         `json:"if_revision,omitempty" doc:"Apply only at this revision; 0 means that there must be none"`
	IfIncarnation uint64          `json:"if_incarnation,omitempty"`
}

func (b *memoryBody) ToOp(name, id string) (*agent.WriteMemory, error) {
	ttl, err := timed("ttl_ms", b.TTLMS)
	return &agent.WriteMemory{
		Agent: name, ID: id, Session: b.SessionID, Class: b.Class, Kind: b.Kind, Content: string(b.Content), Data: agent.JSON(b.Data), Tags: b.Tags,
		Source: b.Source, Metadata: agent.JSON(b.Metadata), Embedding: b.Embedding, ObservedAt: b.ObservedAt, ExpiresAt: b.ExpiresAt,
		TTL: ttl, IfRevision: b.IfRevision, IfIncarnation: b.IfIncarnation,
	}, err
}

// memoryStamp answers a write of a memory.
type memoryStamp struct {
	AgentID     string `json:"agent_id"`
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	CreatedAt   int64  `json:"created_at"`
	UpdatedAt   int64  `json:"updated_at"`
}

func memoryStampOf(r *agent.MemoryResult) memoryStamp {
	return memoryStamp{
		AgentID: r.Agent, ID: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

// memory is a stored memory.
type memory struct {
	AgentID     string    `json:"agent_id"`
	ID          string    `json:"id"`
	Incarnation uint64    `json:"incarnation"`
	Revision    uint64    `json:"revision"`
	SessionID   string    `json:"session_id,omitzero"`
	Class       string    `json:"class"`
	Kind        string    `json:"kind"`
	Content     string    `json:"content"`
	Data        document  `json:"data,omitzero"`
	Tags        []string  `json:"tags" nullable:"false"`
	Source      string    `json:"source,omitzero"`
	Metadata    document  `json:"metadata"`
	Embedding   []float32 `json:"embedding,omitempty" doc:"Where the memory was asked for by its id"`
	ObservedAt  int64     `json:"observed_at"`
	CreatedAt   int64     `json:"created_at"`
	UpdatedAt   int64     `json:"updated_at"`
	ExpiresAt   int64     `json:"expires_at,omitzero"`
}

func memoryOf(m agent.Memory) memory {
	return memory{
		AgentID: m.Agent, ID: m.ID, Incarnation: m.Incarnation, Revision: m.Revision, SessionID: m.Session, Class: m.Class, Kind: m.Kind,
		Content: m.Content, Data: document(m.Data), Tags: m.Tags, Source: m.Source, Metadata: document(m.Metadata), Embedding: m.Embedding,
		ObservedAt: m.ObservedAt, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ExpiresAt: m.ExpiresAt,
	}
}

func (f *front) routeMemory() {
	const tag, one = "memory", "/v1/memory/{agent}/{id}"
	register(f, route{
		method: http.MethodPut, path: one, id: "put-memory", tag: tag, summary: "Write a memory, or write it anew: it is then the last written one",
		effect: writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: memoryStamp{},
	}, func(c *call, body *memoryBody) error { return c.writeMemory(c.id("id"), body) })
	register(f, route{
		method: http.MethodPost, path: "/v1/memory/{agent}", id: "write-memory", tag: tag,
		summary: "Write a memory whose id is made from its content: an equal one has an equal id",
		effect:  writes, bodyNeeded: true, creates: true, answers: memoryStamp{},
	}, func(c *call, body *memoryBody) error { return c.writeMemory("", body) })
	register(f, route{
		method: http.MethodGet, path: one, id: "get-memory", tag: tag, summary: "Read a memory, with its embedding",
		effect: reads, answers: memory{},
	}, (*call).getMemory)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-memory", tag: tag, summary: "Delete a memory",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, (*call).deleteMemory)
	register(f, route{
		method: http.MethodGet, path: "/v1/memory", id: "list-memory", tag: tag, summary: "List what an agent remembers, in id order",
		effect: reads, query: append([]string{"agent_id"}, listQuery...), answers: list[memory]{},
	}, (*call).listMemories)
	register(f, route{
		method: http.MethodPost, path: "/v1/memory/recall", id: "recall", tag: tag,
		summary: "Recall what an agent remembers: the last written, by a filter, by words, by a vector, or by both",
		effect:  reads, bodyNeeded: true, answers: recalled{},
	}, (*call).recall)
}

func (c *call) writeMemory(id string, body *memoryBody) error {
	op, err := body.ToOp(c.id("agent"), id)
	if err != nil {
		return err
	}
	if c.route.condition != "" {
		op.IfRevision = c.conditioned(op.IfRevision)
	}
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	stamp, err := resultOf[*agent.MemoryResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{revision: &stamp.Revision, body: memoryStampOf(stamp)}
	if stamp.Revision == 1 { // revisions count from 1 in each incarnation
		a.location = location("memory", stamp.Agent, stamp.ID)
	}
	return c.answer(a)
}

func (c *call) getMemory(*none) error {
	found, err := read[*agent.Memory](c, &agent.GetMemory{Agent: c.id("agent"), ID: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: memoryOf(*found)})
}

func (c *call) deleteMemory(*none) error {
	_, err := c.commit(&agent.DeleteMemory{
		Agent:         c.id("agent"),
		ID:            c.id("id"),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func (c *call) listMemories(*none) error {
	found, err := read[*agent.MemoryList](c, &agent.ListMemories{Agent: c.text("agent_id"), Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: listOf(found.Items, found.Next, memoryOf)})
}

type writeMemoryOp struct {
	opName
	AgentID string `json:"agent_id"`
	ID      string `json:"id,omitempty" doc:"Made from the content where absent"`
	memoryBody
}

func (o *writeMemoryOp) op() (agent.Op, error) { return o.memoryBody.ToOp(o.AgentID, o.ID) }

type deleteMemoryOp struct {
	opName
	AgentID       string  `json:"agent_id"`
	ID            string  `json:"id"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

func (o *deleteMemoryOp) op() (agent.Op, error) {
	seal, err := timed("seal_ms", o.SealMS)
	return &agent.DeleteMemory{Agent: o.AgentID, ID: o.ID, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}
