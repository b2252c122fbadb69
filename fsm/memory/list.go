package memory

import (
	"encoding/hex"
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// All memories of a scope are listed in the order of their last writes. Each memory has two rows
// for that: one in the list, and one of its agent that leads to the first. An erasure removes an
// agent's memories by range deletes, without reading them, and then removes the list rows step by
// step. A reader skips a list row whose memory does not exist or has another place in the list.
// Backfill adds the memories from below txn.ListedLevel.

// listMemory adds a memory to the list of all memories.
func listMemory(b *txn.Entry, scope, agent, id string, row *logpb.MemoryRow) {
	if b.Level < txn.ListedLevel {
		return
	}
	b.Rows.Set(kv.MemoryListKey(scope, agent, row), []byte(id))
	b.Rows.Set(kv.MemoryPlaceKey(scope, agent, row), kv.Indexed)
}

// unlistMemory removes a memory from the list of all memories.
func unlistMemory(b *txn.Entry, scope, agent string, row *logpb.MemoryRow) {
	if b.Level < txn.ListedLevel {
		return
	}
	b.Rows.Remove(kv.MemoryListKey(scope, agent, row))
	b.Rows.Remove(kv.MemoryPlaceKey(scope, agent, row))
}

// allMemories lists the memories of all agents. The token of a page is the last key of the page
// before, in hex, without the prefix of the list.
func allMemories(r txn.Reader, q *agent.ListMemories) (agent.Found, error) {
	complete, err := Backfill.Complete(r.Reader)
	if err != nil {
		return nil, err
	}
	if !complete {
		return nil, agent.Errorf(agent.CodeUnavailable, "the memories of all agents are listed once every node of the cluster supports it "+
			"and older memories are in the index: upgrade the older nodes, or retry in a moment")
	}
	prefix := kv.ScopeKey(kv.KindMemoryList, r.Scope)
	lower := prefix
	if q.After != "" {
		tail, err := hex.DecodeString(q.After)
		if err != nil {
			return nil, agent.Invalid("after", "invalid page token %q: use the next value of the previous page", q.After)
		}
		lower = prefix + string(tail) + kv.Separator
	}
	list := &agent.MemoryList{}
	last, err := r.EachOfPage(lower, kv.After(prefix), q.Limit, agent.ReadBytesMax, func(key string, raw []byte) (int, error) {
		m, size, err := listedMemory(r, key, key[len(prefix):], string(raw))
		if m != nil {
			list.Items = append(list.Items, *m)
		}
		return size, err
	})
	if last != "" {
		list.Next = hex.EncodeToString([]byte(last[len(prefix):]))
	}
	return list, err
}

// listedMemory returns the memory of a list row, and about its size in bytes; nil if the memory has
// been erased or has expired.
func listedMemory(r txn.Reader, key, tail, id string) (*agent.Memory, int, error) {
	name, _, _ := strings.Cut(tail[16:], kv.Separator)
	raw, err := r.Get(kv.MemoryKey(kv.KindMemory, r.Scope, name, id))
	if err != nil || raw == nil {
		return nil, 0, err
	}
	row, err := command.DecodeMemoryRow(id, raw)
	if err != nil || kv.MemoryListKey(r.Scope, name, row) != key || txn.Expired(row.ExpiresAt, r.Progress.Wall) {
		return nil, 0, err
	}
	body, err := memoryBody(r, name, id)
	if err != nil {
		return nil, 0, err
	}
	m := command.MemoryOf(name, id, row, body)
	return &m, len(name) + len(id) + int(row.Size), nil
}

func indexMemory(b *txn.Entry, key string, raw []byte) error {
	scope, name, id, ok := kv.SplitMemory(key)
	if !ok {
		return fmt.Errorf("the key %q names no memory", key)
	}
	row, err := command.DecodeMemoryRow(id, raw)
	if err != nil {
		return err
	}
	listMemory(b, scope, name, id, row)
	return nil
}

// Backfill adds memories from below txn.ListedLevel to the list of all memories.
var Backfill = txn.Backfill{
	Level: txn.ListedLevel, Cursor: kv.KindSystem + "memories", Kind: kv.KindMemory, Most: agent.MemoriesListedMax, Add: indexMemory,
}
