package memstore

import (
	"context"
	"errors"
	"fmt"

	"dormouse/agent"
)

// Read implements agent.Service. A stale read is answered like any other.
func (st *Store) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	if st.BeforeRead != nil {
		if err := st.BeforeRead(ctx, r); err != nil {
			return agent.Answers{}, err
		}
	}
	if ctx.Err() != nil {
		return agent.Answers{}, agent.Errorf(agent.CodeUnavailable, "%v", context.Cause(ctx))
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.refresh()
	answers := agent.Answers{Index: st.index.Load(), Node: st.Node}
	s := st.scope(r.Scope)
	for _, read := range r.Reads {
		found, e := st.answer(s, read)
		if e != nil {
			found = nil
		}
		answers.Answers = append(answers.Answers, agent.Answer{Found: found, Err: e})
	}
	return answers, nil
}

// get returns the object of a map, or not_found.
func get[V any, F interface {
	*V
	agent.Found
}](m map[string]F, noun, id string) (agent.Found, *agent.Error) {
	if found := m[id]; found != nil {
		return found, nil
	}
	return nil, notFound(noun, id)
}

// declared refuses a list by metadata whose keys the scope has not declared.
func (s *scope) declared(read agent.Read) *agent.Error {
	var where agent.Where
	switch q := read.(type) {
	case *agent.ListValues:
		where = q.Where
	case *agent.ListCheckpoints:
		where = q.Where
	case *agent.ListSessions:
		where = q.Where
	}
	var e *agent.Error
	errors.As(where.Declared(s.MetadataKeys, false), &e)
	return e
}

func (st *Store) answer(s *scope, read agent.Read) (agent.Found, *agent.Error) {
	if e := s.declared(read); e != nil {
		return nil, e
	}
	if found, e, ok := s.dialogues.Read(read); ok {
		return found, e
	}
	if found, e, ok := s.timers.Find(read); ok {
		return found, e
	}
	switch q := read.(type) {
	case *agent.GetDeletion:
		return get(s.deletions, "deletion", q.ID)
	case *agent.GetErasure:
		return get(s.erasures, "erasure", q.Agent)
	case *agent.GetValue:
		return get(s.values, "value", q.Key)
	case *agent.GetClaim:
		if c := s.claims[q.Claim]; c != nil {
			return c, nil
		}
		return nil, agent.Errorf(agent.CodeNotFound, "claim %q has no holder", q.Claim)
	case *agent.GetScope:
		if q.Default {
			return &agent.Scope{Policy: st.defaults}, nil
		}
		if s.exists {
			return st.shown(s), nil
		}
		return nil, notFound("scope", s.Name)
	case *agent.GetCheckpoint:
		return s.revision(q.Key, q.Revision)
	case *agent.CheckpointHistory:
		return s.history(q)
	case *agent.Thaw:
		return s.thaw(q)
	case *agent.GetThread, *agent.LoadEntries, *agent.GetEntry, *agent.VerifyThread:
		return s.threadRead(read)
	case *agent.GetMemory, *agent.ListMemories, *agent.Recall:
		return s.memoryRead(st.wall(), read)
	case *agent.GetSession, *agent.ListSessions, *agent.GetReview, *agent.ListReviews:
		return st.sessionRead(s, read)
	case *agent.GetManager:
		if m, ok := s.managers[q.Name]; ok {
			return &m, nil
		}
		return nil, notFound("manager", q.Name)
	case *agent.GetToken:
		return st.tokens.get(q, st.wall())
	case *agent.GetAnswer:
		return st.getAnswer(s, q)
	default:
		return st.list(s, read), nil
	}
}

func (st *Store) list(s *scope, read agent.Read) agent.Found {
	switch q := read.(type) {
	case *agent.ListValues:
		return s.listValues(q)
	case *agent.ListCheckpoints:
		return s.listCheckpoints(q)
	case *agent.ListThreads:
		return s.listThreads(q)
	case *agent.ListClaims:
		return s.listClaims(q)
	case *agent.ListManagers:
		return s.listManagers(q)
	case *agent.ListDeletions:
		return s.listDeletions(q)
	case *agent.ListTokens:
		return st.tokens.list(q, st.wall())
	case *agent.ListScopes:
		names, next := sorted(st.scopes, q.Page)
		list := &agent.ScopeList{Next: next}
		for _, name := range names {
			list.Items = append(list.Items, *st.shown(st.scopes[name]))
		}
		return list
	default:
		panic(fmt.Sprintf("unknown read %T", read))
	}
}
