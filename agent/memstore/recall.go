package memstore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/recall"
)

// memoryRead answers a read of memories.
func (s *scope) memoryRead(now int64, read agent.Read) (agent.Found, *agent.Error) {
	switch q := read.(type) {
	case *agent.GetMemory:
		if m := s.memories[memoryName{q.Agent, q.ID}]; m != nil {
			return &m.Memory, nil
		}
		return nil, notFound("memory", q.ID)
	case *agent.ListMemories:
		if q.Agent == "" {
			return s.allMemories(q), nil
		}
		byID := map[string]*memory{}
		for _, m := range s.of(q.Agent) {
			byID[m.ID] = m
		}
		keys, next := sorted(byID, q.Page)
		list := &agent.MemoryList{Next: next}
		for _, key := range keys {
			list.Items = append(list.Items, shown(byID[key]))
		}
		return list, nil
	case *agent.Recall:
		return s.recall(q, now)
	default:
		return nil, agent.Invalid("read", "unknown read %T", read)
	}
}

// allMemories lists the memories of all agents, oldest write first.
func (s *scope) allMemories(q *agent.ListMemories) *agent.MemoryList {
	byWrite := map[string]*memory{}
	for _, m := range s.memories {
		byWrite[fmt.Sprintf("%020d", m.order)] = m
	}
	keys, next := sorted(byWrite, q.Page)
	list := &agent.MemoryList{Next: next}
	for _, key := range keys {
		list.Items = append(list.Items, shown(byWrite[key]))
	}
	return list
}

// shown returns a memory as in lists and recalls.
func shown(m *memory) agent.Memory {
	out := m.Memory
	out.Embedding = nil
	return out
}

func (m *memory) doc() recall.Doc {
	return recall.Doc{
		ID: m.ID, Order: m.order, Session: m.Session, Class: m.Class, Kind: m.Kind, Tags: m.Tags, ObservedAt: m.ObservedAt, ExpiresAt: m.ExpiresAt,
	}
}

// recall ranks with package recall, as the real store does. It implements the other
// rules itself.
func (s *scope) recall(q *agent.Recall, now int64) (agent.Found, *agent.Error) {
	filled := q.Filled()
	out := &agent.Recalled{Request: filled}
	out.Request.Embedding = nil
	all := s.of(q.Agent)
	out.Entries = uint64(len(all))
	x, byID := recall.NewIndex(), map[string]*memory{}
	for _, m := range all {
		if len(q.Embedding) > 0 && len(m.Embedding) > 0 && len(q.Embedding) != len(m.Embedding) {
			return nil, agent.Invalid("embedding", "the memories of agent %q have embeddings of another length", q.Agent)
		}
		x.Put(m.doc(), m.Content, m.Embedding)
		byID[m.ID] = m
	}
	keeps, limit := recall.Matches(&filled, now), int(filled.Limit)
	var hits []recall.Hit
	matched := 0
	switch filled.Mode {
	case agent.ModeText:
		hits, matched = x.Text(q.Query, keeps, limit)
	case agent.ModeVector:
		hits, matched = x.Vector(q.Embedding, keeps, limit)
	case agent.ModeHybrid:
		hits, matched = x.Hybrid(q.Query, q.Embedding, keeps, limit, agent.RecallLimitMax)
	default:
		hits = plain(&filled, all, keeps)
		matched = len(hits)
	}
	out.Matched = uint64(matched)
	for _, hit := range hits {
		out.Items = append(out.Items, agent.RecalledMemory{Memory: shown(byID[hit.ID]), Score: hit.Score})
	}
	return out, nil
}

// plain answers the modes without ranking.
func plain(q *agent.Recall, all []*memory, keeps func(*recall.Doc) bool) (hits []recall.Hit) {
	slices.SortFunc(all, func(a, b *memory) int {
		if q.Mode == agent.ModeRecent {
			return cmp.Compare(b.order, a.order)
		}
		order := cmp.Or(cmp.Compare(b.ObservedAt, a.ObservedAt), strings.Compare(b.ID, a.ID))
		if q.Ascending {
			return -order
		}
		return order
	})
	for _, m := range all {
		text := m.Content
		if text == "" {
			text = string(m.Data)
		}
		d := m.doc()
		if len(hits) < int(q.Limit) && keeps(&d) && strings.Contains(strings.ToLower(text), strings.ToLower(q.Filter.Contains)) {
			hits = append(hits, recall.Hit{ID: m.ID})
		}
	}
	return hits
}
