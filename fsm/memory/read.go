package memory

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Get answers get_memory.
func Get(r txn.Reader, q *agent.GetMemory) (agent.Found, error) {
	raw, err := r.Get(kv.MemoryKey(kv.KindMemory, r.Scope, q.Agent, q.ID))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("memory", q.ID)
	}
	row, err := command.DecodeMemoryRow(q.ID, raw)
	if err != nil {
		return nil, err
	}
	if txn.Expired(row.ExpiresAt, r.Progress.Wall) {
		return nil, txn.NotFound("memory", q.ID)
	}
	body, err := memoryBody(r, q.Agent, q.ID)
	if err != nil {
		return nil, err
	}
	m := command.MemoryOf(q.Agent, q.ID, row, body)
	m.Embedding = body.Embedding
	return &m, nil
}

func memoryBody(r txn.Reader, name, id string) (*logpb.MemoryBody, error) {
	raw, err := r.Get(kv.MemoryKey(kv.KindMemoryBody, r.Scope, name, id))
	if err != nil {
		return nil, err
	}
	return command.DecodeMemoryBody(id, raw)
}

// memoryRow returns the row of a memory that must exist.
func memoryRow(r txn.Reader, name, id string) (*logpb.MemoryRow, error) {
	raw, err := r.Get(kv.MemoryKey(kv.KindMemory, r.Scope, name, id))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("memory %q of agent %q is in an index and does not exist", id, name)
	}
	return command.DecodeMemoryRow(id, raw)
}

// List answers list_memories.
func List(r txn.Reader, q *agent.ListMemories) (agent.Found, error) {
	if q.Agent == "" {
		return allMemories(r, q)
	}
	list := &agent.MemoryList{}
	next, err := r.EachInPage(kv.IDKey(kv.KindMemory, r.Scope, q.Agent), q.Page, func(id string, raw []byte) (int, error) {
		row, err := command.DecodeMemoryRow(id, raw)
		if err != nil || txn.Expired(row.ExpiresAt, r.Progress.Wall) {
			return 0, err
		}
		body, err := memoryBody(r, q.Agent, id)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, command.MemoryOf(q.Agent, id, row, body))
		return len(id) + int(row.Size), nil
	})
	list.Next = next
	return list, err
}

// memoryText returns the searched text of a memory: its content, or its data as printed if it has
// no content.
func memoryText(body *logpb.MemoryBody) string {
	if body.Content != "" {
		return body.Content
	}
	return string(body.Data)
}
