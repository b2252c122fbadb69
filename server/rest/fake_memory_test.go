package rest_test

import (
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
)

func (f *fake) remember(s *fakeScope, o *agent.WriteMemory, incarnation uint64) (agent.OpResult, *agent.Error) {
	m := agent.Memory{Incarnation: incarnation, CreatedAt: f.now()}
	at := s.placeOf(o.Agent, o.ID)
	if at >= 0 {
		m.Incarnation, m.Revision, m.CreatedAt = s.memories[at].Incarnation, s.memories[at].Revision, s.memories[at].CreatedAt
	}
	if o.IfRevision != nil && *o.IfRevision != m.Revision {
		return nil, &agent.Error{Code: agent.CodeRevisionMismatch, Revision: m.Revision}
	}
	if at >= 0 {
		s.memories = slices.Delete(s.memories, at, at+1)
	}
	m.Agent, m.ID, m.Session, m.Class, m.Kind, m.Content, m.Data = o.Agent, o.ID, o.Session, o.Class, o.Kind, o.Content, o.Data
	m.Tags, m.Source, m.Metadata, m.Embedding, m.ExpiresAt = o.Tags, o.Source, o.Metadata, o.Embedding, o.ExpiresAt
	m.Revision, m.UpdatedAt, m.ObservedAt = m.Revision+1, f.now(), f.now()
	if o.ObservedAt != nil {
		m.ObservedAt = *o.ObservedAt
	}
	s.memories = append(s.memories, m)
	return &agent.MemoryResult{
		Agent: m.Agent, ID: m.ID, Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}, nil
}

func (s *fakeScope) placeOf(name, id string) int {
	return slices.IndexFunc(s.memories, func(m agent.Memory) bool { return m.Agent == name && m.ID == id })
}

func (s *fakeScope) forget(o *agent.DeleteMemory) (agent.OpResult, *agent.Error) {
	at := s.placeOf(o.Agent, o.ID)
	if at >= 0 {
		s.memories = slices.Delete(s.memories, at, at+1)
	}
	return &agent.DeleteResult{Existed: at >= 0}, nil
}

// memory answers reads of memories. In every mode a recall finds the last written memories whose
// content holds the query, all with the same score.
func (s *fakeScope) memory(r agent.Read) (agent.Found, *agent.Error) {
	switch q := r.(type) {
	case *agent.GetMemory:
		if at := s.placeOf(q.Agent, q.ID); at >= 0 {
			m := s.memories[at]
			return &m, nil
		}
		return nil, agent.Errorf(agent.CodeNotFound, "there is none")
	case *agent.ListMemories:
		if q.Agent == "" {
			return &agent.MemoryList{Items: slices.Clone(s.memories)}, nil // in the order of their last writes
		}
		byID := map[string]agent.Memory{}
		for _, m := range s.memories {
			if m.Agent == q.Agent {
				m.Embedding = nil
				byID[m.ID] = m
			}
		}
		ids, next := page(q.Page, slices.Sorted(maps.Keys(byID)))
		out := &agent.MemoryList{Next: next}
		for _, id := range ids {
			out.Items = append(out.Items, byID[id])
		}
		return out, nil
	case *agent.Recall:
		out := &agent.Recalled{Request: q.Filled()}
		out.Request.Embedding = nil
		for _, m := range slices.Backward(s.memories) {
			if m.Agent != q.Agent {
				continue
			}
			out.Entries++
			if q.Mode == agent.ModeText && !strings.Contains(m.Content, q.Query) || uint64(len(out.Items)) == out.Request.Limit {
				continue
			}
			out.Matched++
			m.Embedding = nil
			out.Items = append(out.Items, agent.RecalledMemory{Memory: m, Score: 0.5})
		}
		return out, nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "the fake has no %T", r)
	}
}
