package mcp

import (
	"context"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
	"dormouse/api/document"
)

type writeMemory struct {
	Agent   string   `json:"agent" jsonschema:"the agent that remembers"`
	Content string   `json:"content" jsonschema:"what to remember, as text"`
	ID      string   `json:"id,omitempty" jsonschema:"overwrite the memory of this id; a new one if absent"`
	Class   string   `json:"class,omitempty" jsonschema:"episodic (what happened), semantic (what is so), procedural (how to), working; episodic if absent"`
	Kind    string   `json:"kind,omitempty" jsonschema:"a word of your own, such as preference"`
	Tags    []string `json:"tags,omitempty"`
	Session string   `json:"session,omitempty" jsonschema:"the session that it belongs to"`
}

type recallMemories struct {
	Agent   string   `json:"agent" jsonschema:"the agent that remembers"`
	Query   string   `json:"query,omitempty" jsonschema:"words to search for, best match first; the newest memories if absent"`
	Limit   uint64   `json:"limit,omitempty" jsonschema:"at most this many; 5 if absent"`
	Classes []string `json:"classes,omitempty" jsonschema:"only memories of these classes"`
	Kinds   []string `json:"kinds,omitempty" jsonschema:"only memories of these kinds"`
	TagsAny []string `json:"tags_any,omitempty" jsonschema:"only memories with at least one of these tags"`
	TagsAll []string `json:"tags_all,omitempty" jsonschema:"only memories with all of these tags"`
	Session string   `json:"session,omitempty" jsonschema:"only the memories of this session and those of no session; of all sessions if absent"`
}

type oneMemory struct {
	Agent string `json:"agent" jsonschema:"the agent that remembers"`
	ID    string `json:"id" jsonschema:"the id of the memory"`
}

func (s store) addMemoryTools(server *sdk.Server) {
	add(server, changes(), "memory_write", "Remember",
		"Store a memory of an agent, or overwrite one by its id.", s.writeMemory)
	add(server, looks(), "memory_recall", "Recall",
		"Find memories of an agent: by the words of a query, or the newest.", s.recallMemories)
	add(server, looks(), "memory_get", "Read a memory",
		"Read one memory of an agent by its id.", s.getMemory)
	add(server, destroys(), "memory_delete", "Forget",
		"Delete one memory of an agent by its id.", s.deleteMemory)
}

func (s store) writeMemory(ctx context.Context, in writeMemory) (any, error) {
	op := &agent.WriteMemory{
		Agent: in.Agent, ID: in.ID, Content: in.Content, Class: in.Class, Kind: in.Kind, Tags: in.Tags, Session: in.Session,
	}
	if op.ID == "" {
		op.ID = "memory_" + uuid.Must(uuid.NewV7()).String()
	}
	stored, err := commit[*agent.MemoryResult](ctx, s, op)
	if err != nil {
		return nil, err
	}
	return document.MemoryStampOf(stored), nil
}

func (s store) recallMemories(ctx context.Context, in recallMemories) (any, error) {
	recall := &agent.Recall{
		Agent: in.Agent, Session: in.Session, Query: in.Query, Limit: in.Limit,
		Filter: agent.MemoryFilter{Classes: in.Classes, Kinds: in.Kinds, TagsAny: in.TagsAny, TagsAll: in.TagsAll},
	}
	recall.Mode, recall.Within = agent.ModeQuery, agent.WithinAll
	if in.Query != "" {
		recall.Mode = agent.ModeText
	}
	if in.Session != "" {
		recall.Within = agent.WithinAgent
	}
	if recall.Limit == 0 {
		recall.Limit = agent.RecallLimitDefault
	}
	found, err := find[*agent.Recalled](ctx, s, recall)
	if err != nil {
		return nil, err
	}
	return document.RecalledOf(found), nil
}

func (s store) getMemory(ctx context.Context, in oneMemory) (any, error) {
	found, err := find[*agent.Memory](ctx, s, &agent.GetMemory{Agent: in.Agent, ID: in.ID})
	if err != nil {
		return nil, err
	}
	return document.MemoryOf(*found), nil
}

func (s store) deleteMemory(ctx context.Context, in oneMemory) (any, error) {
	deleted, err := commit[*agent.DeleteResult](ctx, s, &agent.DeleteMemory{Agent: in.Agent, ID: in.ID})
	if err != nil {
		return nil, err
	}
	return document.DeletedOf(deleted), nil
}

// looks annotates a tool that changes nothing.
func looks() *sdk.ToolAnnotations {
	return &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
}

// changes annotates a tool that adds data, and removes none.
func changes() *sdk.ToolAnnotations {
	return &sdk.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)}
}

// destroys annotates a tool that removes data.
func destroys() *sdk.ToolAnnotations {
	yes := true
	return &sdk.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: new(bool)}
}
