package memstore

import "dormouse/agent"

// memory is a memory of an agent, with the number of its last write.
type memory struct {
	agent.Memory
	order uint64
	size  uint64
}

// memoryName names a memory of a scope.
type memoryName struct{ agent, id string }

// seal returns the name under which a deleted memory is sealed.
func (n memoryName) seal() string { return n.agent + "\x00" + n.id }

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

func writeMemory(st *Store, s *scope, o *agent.WriteMemory) (agent.OpResult, *agent.Error) {
	key := memoryName{o.Agent, o.ID}
	st.writes++
	m := memory{order: st.writes, size: uint64(o.Size()), Memory: agent.Memory{
		Agent: o.Agent, ID: o.ID, Session: o.Session, Class: o.Class, Kind: o.Kind, Content: o.Content, Data: o.Data, Tags: o.Tags,
		Source: o.Source, Metadata: o.Metadata, Embedding: o.Embedding, ObservedAt: s.now, CreatedAt: s.now, UpdatedAt: s.now, ExpiresAt: o.ExpiresAt,
	}}
	if o.ObservedAt != nil {
		m.ObservedAt = *o.ObservedAt
	}
	if o.TTL > 0 {
		m.ExpiresAt = s.expiry(o.TTL)
	}
	old := s.memories[key]
	if old != nil {
		m.Incarnation, m.Revision, m.CreatedAt = old.Incarnation, old.Revision, old.CreatedAt
	}
	if err := first(s.alive("memory", key.seal(), o.IfIncarnation, m.Incarnation), atRevision(o.IfRevision, m.Revision)); err != nil {
		return nil, err
	}
	bytes := m.size
	for _, other := range s.of(o.Agent) {
		if other == old {
			continue
		}
		bytes += other.size
		if len(other.Embedding) > 0 && len(m.Embedding) > 0 && len(other.Embedding) != len(m.Embedding) {
			return nil, agent.Invalid("embedding", "the other memories of agent %q have embeddings of another length", o.Agent)
		}
	}
	if most := orElse(s.Policy.MemoriesMax, agent.MemoriesMaxDefault); old == nil && uint64(len(s.of(o.Agent))) >= most {
		return nil, overloaded("memories_max", most)
	}
	if most := orElse(s.Policy.MemoryBytesMax, agent.AgentMemoryBytesMaxDefault); bytes > most && (old == nil || m.size > old.size) {
		return nil, overloaded("memory_bytes_max", most)
	}
	if old == nil {
		m.Incarnation = st.newIncarnation()
	}
	m.Revision++
	s.memories[key] = &m
	return &agent.MemoryResult{
		Agent: o.Agent, ID: o.ID, Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}, nil
}

func (s *scope) deleteMemory(o *agent.DeleteMemory) (agent.OpResult, *agent.Error) {
	key := memoryName{o.Agent, o.ID}
	incarnation, revision := uint64(0), uint64(0)
	if old := s.memories[key]; old != nil {
		incarnation, revision = old.Incarnation, old.Revision
	}
	if err := first(sameIncarnation("memory", key.seal(), o.IfIncarnation, incarnation), atRevision(o.IfRevision, revision)); err != nil {
		return nil, err
	}
	delete(s.memories, key)
	return s.removed("memory", key.seal(), incarnation, o.Seal), nil
}
