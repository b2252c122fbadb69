package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
	"dormouse/api/document"
)

type newEntry struct {
	ID      string          `json:"id,omitempty" jsonschema:"unique in the thread; generated if absent"`
	Kind    string          `json:"kind,omitempty" jsonschema:"such as message, tool_call, tool_result or note; note if absent"`
	Payload json.RawMessage `json:"payload,omitempty" jsonschema:"an object: what the entry says"`
	Refs    json.RawMessage `json:"refs,omitempty" jsonschema:"an object: what the entry is about"`
}

type appendEntries struct {
	Thread      string     `json:"thread" jsonschema:"the id of the thread; it is created if it does not exist"`
	Entries     []newEntry `json:"entries" jsonschema:"all of them are appended, or none"`
	ExpectedRev *uint64    `json:"expected_rev,omitempty" jsonschema:"append only if the thread has this many entries"`
}

type readEntries struct {
	Thread string   `json:"thread" jsonschema:"the id of the thread"`
	Tail   uint64   `json:"tail,omitempty" jsonschema:"only the last entries, at most this many"`
	From   uint64   `json:"from,omitempty" jsonschema:"the first seq; continue with next of the page before"`
	Limit  uint64   `json:"limit,omitempty" jsonschema:"at most this many entries"`
	Kinds  []string `json:"kinds,omitempty" jsonschema:"only entries of these kinds"`
}

type listPage struct {
	Prefix string `json:"prefix,omitempty" jsonschema:"only ids that begin with this"`
	After  string `json:"after,omitempty" jsonschema:"next of the page before"`
	Limit  uint64 `json:"limit,omitempty" jsonschema:"at most this many"`
}

func (p listPage) page() agent.Page {
	return agent.Page{Prefix: p.Prefix, After: p.After, Limit: p.Limit}
}

func (s store) addThreadTools(server *sdk.Server) {
	add(server, changes(), "thread_append", "Append to a thread",
		"Append entries to an append-only thread, atomically.", s.appendEntries)
	add(server, looks(), "thread_read", "Read a thread",
		"Read the entries of a thread in order, or its last ones.", s.readEntries)
	add(server, looks(), "thread_list", "List threads",
		"List threads in the order of their ids.", s.listThreads)
}

func (s store) appendEntries(ctx context.Context, in appendEntries) (any, error) {
	op := &agent.AppendThread{Thread: in.Thread, ExpectedRev: in.ExpectedRev}
	for _, e := range in.Entries {
		op.Entries = append(op.Entries, agent.Draft{ID: e.ID, Kind: e.Kind, Payload: agent.JSON(e.Payload), Refs: agent.JSON(e.Refs)})
	}
	stored, err := commit[*agent.ThreadResult](ctx, s, op)
	if err != nil {
		return nil, err
	}
	return document.ThreadStampOf(stored), nil
}

func (s store) readEntries(ctx context.Context, in readEntries) (any, error) {
	found, err := find[*agent.Entries](ctx, s, &agent.LoadEntries{Thread: in.Thread, Tail: in.Tail, From: in.From, Limit: in.Limit, Kinds: in.Kinds})
	if err != nil {
		return nil, err
	}
	return document.EntryPageOf(found), nil
}

func (s store) listThreads(ctx context.Context, in listPage) (any, error) {
	found, err := find[*agent.ThreadList](ctx, s, &agent.ListThreads{Page: in.page()})
	if err != nil {
		return nil, err
	}
	return document.ListOf(found.Items, found.Next, document.ThreadOf), nil
}
