package agenttest_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/recall"
)

// memory is a memory of an agent, with the number of its last write.
type memory struct {
	agent.Memory
	order uint64
	size  uint64
}

// forget removes the memories that have expired.
func (s *scope) forget(now int64) {
	maps.DeleteFunc(s.memories, func(_ string, m *memory) bool { return m.ExpiresAt != 0 && m.ExpiresAt <= now })
}

// of returns the memories of an agent.
func (s *scope) of(name string) []*memory {
	var all []*memory
	for _, m := range s.memories {
		if m.Agent == name {
			all = append(all, m)
		}
	}
	return all
}

func full(limit string) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "too many memories")
	e.Limit = limit
	return e
}

func (r *reference) writeMemory(s *scope, o *agent.WriteMemory) (agent.OpResult, *agent.Error) {
	key := o.Agent + "\x00" + o.ID
	m := memory{order: r.mint(), size: uint64(o.Size()), Memory: agent.Memory{
		Agent: o.Agent, ID: o.ID, Session: o.Session, Class: o.Class, Kind: o.Kind, Content: o.Content, Data: o.Data, Tags: o.Tags,
		Source: o.Source, Metadata: o.Metadata, Embedding: o.Embedding, ObservedAt: r.now, CreatedAt: r.now, UpdatedAt: r.now, ExpiresAt: o.ExpiresAt,
	}}
	if o.ObservedAt != nil {
		m.ObservedAt = *o.ObservedAt
	}
	if o.TTL > 0 {
		m.ExpiresAt = expiry(r.now, o.TTL)
	}
	old := s.memories[key]
	if old != nil {
		m.Incarnation, m.Revision, m.CreatedAt = old.Incarnation, old.Revision, old.CreatedAt
	}
	if err := first(s.alive("memory", key, o.IfIncarnation, m.Incarnation), atRevision(o.IfRevision, m.Revision)); err != nil {
		return nil, err
	}
	bytes := m.size
	for _, other := range s.of(o.Agent) {
		if other == old {
			continue
		}
		bytes += other.size
		if len(other.Embedding) > 0 && len(m.Embedding) > 0 && len(other.Embedding) != len(m.Embedding) {
			return nil, agent.Invalid("embedding", "of another length")
		}
	}
	if most := s.Policy.MemoriesMax; most > 0 && old == nil && uint64(len(s.of(o.Agent))) >= most {
		return nil, full("memories_max=2")
	}
	if most := s.Policy.MemoryBytesMax; most > 0 && bytes > most {
		return nil, full("memory_bytes_max=100")
	}
	if old == nil {
		m.Incarnation = r.mint()
	}
	m.Revision++
	s.memories[key] = &m
	return &agent.MemoryResult{
		Agent: o.Agent, ID: o.ID, Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}, nil
}

func (r *reference) deleteMemory(s *scope, o *agent.DeleteMemory) (agent.OpResult, *agent.Error) {
	key := o.Agent + "\x00" + o.ID
	old := s.memories[key]
	if old == nil {
		return s.removed("memory", key, 0, o.Seal), nil
	}
	if err := first(s.alive("memory", key, o.IfIncarnation, old.Incarnation), atRevision(o.IfRevision, old.Revision)); err != nil {
		return nil, err
	}
	delete(s.memories, key)
	return s.removed("memory", key, old.Incarnation, o.Seal), nil
}

func (r *reference) memoryRead(s *scope, one agent.Read) (agent.Found, *agent.Error) {
	s.forget(r.now)
	switch q := one.(type) {
	case *agent.GetMemory:
		if m := s.memories[q.Agent+"\x00"+q.ID]; m != nil {
			return &m.Memory, nil
		}
		return nil, notFound("memory")
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
		return s.recall(q, r.now)
	default:
		return nil, agent.Invalid("read", "%T", one)
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

// recall uses the store's index of words and vectors, which has its own tests; it
// implements the other rules separately.
func (s *scope) recall(q *agent.Recall, now int64) (agent.Found, *agent.Error) {
	filled := q.Filled()
	out := &agent.Recalled{Request: filled}
	out.Request.Embedding = nil
	all := s.of(q.Agent)
	out.Entries = uint64(len(all))
	x, byID := recall.NewIndex(), map[string]*memory{}
	for _, m := range all {
		if len(q.Embedding) > 0 && len(m.Embedding) > 0 && len(q.Embedding) != len(m.Embedding) {
			return nil, agent.Invalid("embedding", "of another length")
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
		text, _ := x.Text(q.Query, keeps, 1000)
		vector, _ := x.Vector(q.Embedding, keeps, 1000)
		hits, matched = recall.Fuse(limit, text, vector)
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
