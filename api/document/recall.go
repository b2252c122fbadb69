package document

import (
	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// RecallBody is a recall, as a caller writes it and as it is handed back.
type RecallBody struct {
	AgentID      string          `json:"agent_id"`
	SessionID    string          `json:"session_id,omitempty"`
	Within       string          `json:"within,omitempty" enum:"agent,session,all" doc:"What belongs to the session or to none, to the session alone, or to any; agent where absent, all in mode query"`
	Mode         string          `json:"mode,omitempty" enum:"recent,query,text,vector,hybrid" doc:"recent where absent"`
	Query        strictjson.Text `json:"query,omitempty" doc:"Needed by modes recent, text and hybrid; recent pays no heed to it"`
	Embedding    []float32       `json:"embedding,omitempty" doc:"Needed by modes vector and hybrid"`
	Limit        uint64          `json:"limit,omitempty" doc:"1,000 at most, and in place of more; 5 where absent, 20 in mode query"`
	Classes      []string        `json:"classes,omitempty" doc:"Of any of these"`
	Kinds        []string        `json:"kinds,omitempty" doc:"Of any of these"`
	TagsAny      []string        `json:"tags_any,omitempty" doc:"With at least one of these"`
	TagsAll      []string        `json:"tags_all,omitempty" doc:"With each of these"`
	TextContains strictjson.Text `json:"text_contains,omitempty" doc:"Mode query: in the content, or the data where there is none; in any case"`
	Since        *int64          `json:"since,omitempty" doc:"Observed at or after"`
	Until        *int64          `json:"until,omitempty" doc:"Observed at or before"`
	Order        order           `json:"order,omitempty" enum:"asc,desc" doc:"Mode query: by the time of observation; desc where absent"`
	Metadata     JSON            `json:"metadata,omitempty" doc:"Handed back with the answer"`
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

// Recalled answers a recall.
type Recalled struct {
	Request  RecallBody       `json:"request" doc:"With its defaults filled in, and without its embedding"`
	Items    []recalledMemory `json:"items" nullable:"false"`
	Metadata recallMetadata   `json:"metadata"`
	Index    uint64           `json:"index,omitzero" doc:"The log index that the answer is of"`
}

// recalledMemory is a memory that was recalled.
type recalledMemory struct {
	Memory
	Score float64 `json:"score" doc:"The more the better, within one answer; 0 in modes recent and query"`
}

// recallMetadata says what the items are of.
type recallMetadata struct {
	Entries uint64 `json:"entries" doc:"What the agent remembers in all"`
	Matched uint64 `json:"matched" doc:"How many of them matched; in modes recent and query, the items"`
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

// UnmarshalText refuses any other.
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
		pageRead
		AgentID string `json:"agent_id,omitempty" doc:"Without it, the memories of all agents, oldest write first"`
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
