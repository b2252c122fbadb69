package fakestore

import (
	"slices"
	"strconv"
	"strings"

	"dormouse/agent"
)

func (s *Store) writeMemory(sc *scope, o *agent.WriteMemory) (agent.OpResult, *agent.Error) {
	m := agent.Memory{Incarnation: s.index, CreatedAt: s.now()}
	at := sc.memoryAt(o.Agent, o.ID)
	if at >= 0 {
		m = sc.memories[at]
	}
	if err := atRevision(o.IfRevision, m.Revision); err != nil {
		return nil, err
	}
	if at >= 0 {
		sc.memories = slices.Delete(sc.memories, at, at+1)
	}
	m = agent.Memory{
		Agent: o.Agent, ID: o.ID, Incarnation: m.Incarnation, Revision: m.Revision + 1, Session: o.Session, Class: o.Class, Kind: o.Kind,
		Content: o.Content, Data: o.Data, Tags: o.Tags, Source: o.Source, Metadata: o.Metadata, Embedding: o.Embedding,
		ObservedAt: s.now(), CreatedAt: m.CreatedAt, UpdatedAt: s.now(), ExpiresAt: max(o.ExpiresAt, s.expiry(o.TTL)),
	}
	if o.ObservedAt != nil {
		m.ObservedAt = *o.ObservedAt
	}
	sc.memories = append(sc.memories, m)
	return &agent.MemoryResult{
		Agent: m.Agent, ID: m.ID, Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}, nil
}

func (sc *scope) memoryAt(name, id string) int {
	return slices.IndexFunc(sc.memories, func(m agent.Memory) bool { return m.Agent == name && m.ID == id })
}

func (sc *scope) deleteMemory(o *agent.DeleteMemory) (agent.OpResult, *agent.Error) {
	at := sc.memoryAt(o.Agent, o.ID)
	if at < 0 {
		return &agent.DeleteResult{}, nil
	}
	if err := atRevision(o.IfRevision, sc.memories[at].Revision); err != nil {
		return nil, err
	}
	sc.memories = slices.Delete(sc.memories, at, at+1)
	return &agent.DeleteResult{Existed: true}, nil
}

// memory answers a read of memories. A recall finds the last written ones, of the
// session and of none, whose content contains the query or, in ModeQuery, the filter's
// text. In ModeText the position of the query is the score.
func (sc *scope) memory(read agent.Read) (agent.Found, *agent.Error) {
	switch q := read.(type) {
	case *agent.GetMemory:
		if at := sc.memoryAt(q.Agent, q.ID); at >= 0 {
			m := sc.memories[at]
			return &m, nil
		}
		return nil, notFound("memory", q.ID)
	case *agent.ListMemories:
		if q.Agent == "" {
			return sc.allMemories(q), nil
		}
		byID := map[string]agent.Memory{}
		for _, m := range sc.memories {
			if m.Agent == q.Agent {
				byID[m.ID] = m
			}
		}
		list := &agent.MemoryList{}
		names, next := page(byID, q.Page)
		for _, name := range names {
			list.Items = append(list.Items, byID[name])
		}
		list.Next = next
		return list, nil
	case *agent.Recall:
		return sc.recall(q), nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "the fake knows no %T", read)
	}
}

func (sc *scope) recall(q *agent.Recall) *agent.Recalled {
	filled := q.Filled()
	found := &agent.Recalled{Request: filled}
	for _, m := range slices.Backward(sc.memories) {
		if m.Agent != q.Agent {
			continue
		}
		found.Entries++
		item := agent.RecalledMemory{Memory: m}
		text := q.Filter.Contains
		if q.Mode == agent.ModeText {
			text = q.Query
			item.Score = 1 / float64(1+max(0, strings.Index(m.Content, text)))
		}
		if !strings.Contains(m.Content, text) || !filled.Reaches(m.Session) {
			continue
		}
		if found.Matched++; uint64(len(found.Items)) < filled.Limit {
			found.Items = append(found.Items, item)
		}
	}
	return found
}

// allMemories lists the memories of all agents, oldest write first. A page token is
// the number of memories before the page.
func (sc *scope) allMemories(q *agent.ListMemories) *agent.MemoryList {
	from, _ := strconv.Atoi(q.After)
	limit := q.Limit
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	to := min(from+int(limit), len(sc.memories))
	list := &agent.MemoryList{Items: slices.Clone(sc.memories[min(from, to):to])}
	if to < len(sc.memories) {
		list.Next = strconv.Itoa(to)
	}
	return list
}
