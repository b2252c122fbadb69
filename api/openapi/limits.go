package openapi

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"dormouse/agent"
)

// lengths are the limits of strings of requests by the name of the member or parameter. The server
// counts bytes of UTF-8 and this document characters: a string with more characters has more bytes.
var lengths = map[string]int{
	"content_type": agent.KindBytesMax,
	"kind":         agent.KindBytesMax,
	"lifecycle":    agent.KindBytesMax,
	"query":        agent.RecallQueryBytesMax,
	"title":        agent.ConversationTitleMax,
}

// ids are the members and parameters that hold an id, a key, a scope or a prefix of one.
var ids = []string{
	"agent", "agent_id", "attachment", "checkpoint", "claim", "conversation_id", "entry", "holder", "id", "key", "lease_id",
	"manager", "message_id", "name", "new_agent", "new_session", "new_thread", "owner", "owner_id", "prefix", "request_id",
	"review", "scope", "session", "session_id", "snapshot_id", "thread", "timer",
}

// lists are the limits of arrays of requests.
var lists = map[string]int{
	"embedding": agent.EmbeddingMax,
	"entries":   agent.CommitEntriesMax,
	"grants":    agent.TokenGrantsMax,
	"ops":       agent.CommitOpsMax,
	"reads":     agent.ReadsMax,
	"tags":      agent.MemoryTagsMax,
	"tags_all":  agent.MemoryTagsMax,
	"tags_any":  agent.MemoryTagsMax,
}

// numbers are the limits of whole numbers of requests.
var numbers = map[string]int64{
	"seal_ms":        agent.SealMax.Milliseconds(),
	"ttl_ms":         agent.TTLMax.Milliseconds(),
	"schema_version": agent.SessionSchemaMax,
	"queue_max":      agent.SessionQueueMax,
}

// bound gives a member of the schema of that name its limit, if it has one.
func bound(schema, member string, s *huma.Schema) {
	switch s.Type {
	case huma.TypeString:
		if n, ok := LengthOf(member); ok && s.MaxLength == nil && s.Enum == nil && s.Format == "" && s.ContentEncoding == "" {
			s.MaxLength = &n
		}
	case huma.TypeArray:
		if n, ok := lists[member]; ok && schema != "" {
			s.MaxItems = &n
		}
	case huma.TypeInteger:
		n, ok := numbers[member]
		if member == "limit" {
			n, ok = pageLimit(schema)
		}
		if ok && s.Maximum == nil {
			most := float64(n)
			s.Maximum = &most
		}
	}
}

// pageLimit returns the most rows that a page of the schema may ask for.
func pageLimit(schema string) (rows int64, ok bool) {
	switch schema {
	case "LoadEntriesRead":
		return agent.EntriesLimitMax, true
	case "RecallBody", "RecallRead", "ListMemoriesRead": // more is taken and capped
		return 0, false
	default:
		return agent.ListLimitMax, true
	}
}

// LengthOf returns the limit of a string of requests; ok is false if it has none.
func LengthOf(name string) (limit int, ok bool) {
	if slices.Contains(ids, name) {
		return agent.IDBytesMax, true
	}
	limit, ok = lengths[name]
	return limit, ok
}

// Bounded returns the schema of a query parameter with its limit.
func Bounded(operation, name string, s huma.Schema) *huma.Schema {
	if s.Items != nil {
		s.Items = Bounded(operation, name, *s.Items)
	}
	schema := "" // whose members have other limits
	switch operation {
	case "load-entries":
		schema = "LoadEntriesRead"
	case "list-memory":
		schema = "ListMemoriesRead"
	case "watch-changes":
		most := agent.ChangePathBytesMax
		s.MaxLength = &most
	}
	bound(schema, name, &s)
	return &s
}
