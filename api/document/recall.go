package document

import (
	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// RecallBody is a recall, in requests and in answers.
type RecallBody struct {
	AgentID      string          `json:"agent_id"`
	SessionID    string          `json:"session_id,omitempty"`
	Within       string          `json:"within,omitempty" enum:"agent,session,all" doc:"Memories of the session and of no session, of the session only, or all; agent if absent, all in mode query"`
	Mode         string          `json:"mode,omitempty" enum:"recent,query,text,vector,hybrid" doc:"recent if absent"`
	Query        strictjson.Text `json:"query,omitempty" doc:"Required in modes recent, text and hybrid; ignored in recent"`
	Embedding    []float32       `json:"embedding,omitempty" doc:"Required in modes vector and hybrid"`
	Limit        uint64          `json:"limit,omitempty" doc:"Capped at 1,000; 5 if absent, 20 in mode query"`
	Classes      []string        `json:"classes,omitempty" doc:"Of any of these"`
	Kinds        []string        `json:"kinds,omitempty" doc:"Of any of these"`
	TagsAny      []string        `json:"tags_any,omitempty" doc:"With at least one of these"`
	TagsAll      []string        `json:"tags_all,omitempty" doc:"With each of these"`
	TextContains strictjson.Text `json:"text_contains,omitempty" doc:"Mode query: in the content, or in the data if the content is empty; ignores case"`
	Since        *int64          `json:"since,omitempty" doc:"Observed at or after"`
	Until        *int64          `json:"until,omitempty" doc:"Observed at or before"`
	Order        order           `json:"order,omitempty" enum:"asc,desc" doc:"Mode query: by the time of observation; desc if absent"`
	Metadata     JSON            `json:"metadata,omitempty" doc:"Returned with the answer"`
}

// ToRead returns the recall.
func (b *RecallBody) ToRead() *agent.Recall {
	return &agent.Recall{
		Agent: b.AgentID, Session: b.SessionID, Within: b.Within, Mode: b.Mode, Query: string(b.Query), Embedding: b.Embedding, Limit: b.Limit,
		Filter: agent.MemoryFilter{
			Classes: b.Classes, Kinds: b.Kinds, TagsAny: b.TagsAny, TagsAll: b.TagsAll, Contains: string(b.TextContains), Since: b.Since, Until: b.Until,
		},
		Ascending: b.Order == "asc", Metadata: agent.JSON(b.Metadata),
	}
}

func recallBodyOf(r *agent.Recall) RecallBody {
	f := &r.Filter
	body := RecallBody{
		AgentID: r.Agent, SessionID: r.Session, Within: r.Within, Mode: r.Mode, Query: strictjson.Text(r.Query), Limit: r.Limit,
		Classes: f.Classes, Kinds: f.Kinds, TagsAny: f.TagsAny, TagsAll: f.TagsAll, TextContains: strictjson.Text(f.Contains), Since: f.Since, Until: f.Until,
		Metadata: JSON(r.Metadata),
	}
	if r.Mode == agent.ModeQuery {
		body.Order = "desc"
		if r.Ascending {
			body.Order = "asc"
		}
	}
	return body
}

// Recalled is the result of a recall.
type Recalled struct {
	Request  RecallBody       `json:"request" doc:"With its defaults filled in, and without its embedding"`
	Items    []recalledMemory `json:"items" nullable:"false"`
	Metadata recallMetadata   `json:"metadata"`
	Index    uint64           `json:"index,omitzero" doc:"The log index of the answer"`
}

// recalledMemory is a memory with its score.
type recalledMemory struct {
	Memory
	Score float64 `json:"score" doc:"Higher is better, within one answer; 0 in modes recent and query"`
}

// recallMetadata counts the agent's memories.
type recallMetadata struct {
	Entries uint64 `json:"entries" doc:"Number of the agent's memories"`
	Matched uint64 `json:"matched" doc:"Number of memories that matched; in modes recent and query, the items"`
}

// RecalledOf returns the document of r.
func RecalledOf(r *agent.Recalled) Recalled {
	out := Recalled{
		Request: recallBodyOf(&r.Request), Items: make([]recalledMemory, len(r.Items)),
		Metadata: recallMetadata{Entries: r.Entries, Matched: r.Matched},
	}
	for i, item := range r.Items {
		out.Items[i] = recalledMemory{Memory: MemoryOf(item.Memory), Score: item.Score}
	}
	return out
}

// order is asc or desc.
type order string

// UnmarshalText refuses other values.
func (o *order) UnmarshalText(text []byte) error {
	if string(text) != "asc" && string(text) != "desc" {
		return agent.Invalid("order", "order is %q, and should be asc or desc", text)
	}
	*o = order(text)
	return nil
}

type (
	getMemoryRead struct {
		readName
		AgentID string `json:"agent_id"`
		ID      string `json:"id"`
	}
	listMemoriesRead struct {
		orderedRead
		AgentID string `json:"agent_id,omitempty" doc:"If absent, the memories of all agents, oldest write first"`
	}
	recallRead struct {
		readName
		RecallBody
	}
)

func (r getMemoryRead) read() agent.Read { return &agent.GetMemory{Agent: r.AgentID, ID: r.ID} }

func (r listMemoriesRead) read() agent.Read {
	return &agent.ListMemories{Agent: r.AgentID, Page: r.page()}
}

func (r recallRead) read() agent.Read { return r.ToRead() }
