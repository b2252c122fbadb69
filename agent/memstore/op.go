package memstore

import (
	"slices"

	"dormouse/agent"
)

// op applies an op to a copy of its scope. A refused op may leave the copy changed.
func (st *Store) op(s *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	if e := s.sealedAgent(op); e != nil {
		return nil, e
	}
	if result, e, ok := s.sessions.Apply(sessionHost{st, s}, op); ok {
		return result, e
	}
	if result, e, ok := s.dialogues.Apply(conversationHost{st, s}, op); ok {
		return result, e
	}
	if result, e, ok := s.timers.Apply(op, s.now, st.newIncarnation); ok {
		return result, e
	}
	switch o := op.(type) {
	case *agent.PutValue:
		return st.putValue(s, o)
	case *agent.ReviseValue:
		return st.reviseValue(s, o)
	case *agent.DeleteValue:
		return s.deleteValue(o)
	case *agent.PutCheckpoint:
		return opResult(st.putCheckpoint(s, o))
	case *agent.PatchCheckpoint:
		return st.patchCheckpoint(s, o)
	case *agent.PatchCron:
		return patchCron(st, s, o)
	case *agent.DeleteCheckpoint:
		return s.deleteCheckpoint(o)
	case *agent.WriteMemory:
		return writeMemory(st, s, o)
	case *agent.DeleteMemory:
		return s.deleteMemory(o)
	case *agent.PutScope:
		return putScope(st, s, o)
	case *agent.IndexMetadata:
		s.MetadataKeys = slices.Sorted(slices.Values(o.Keys))
		return &agent.ScopeResult{Scope: *st.shown(s)}, nil
	case *agent.DeleteScope:
		return &agent.DeleteResult{Existed: st.scopes[s.Name] != nil}, nil
	case *agent.ForkAgent:
		return forkAgent(st, s, o)
	case *agent.EraseAgent:
		return st.eraseAgent(s, o)
	case *agent.SetTTL:
		return st.setTTL(s, o)
	case *agent.DeletePrefix:
		return deletePrefix(st, s, o), nil
	default:
		return st.otherOp(s, op)
	}
}

// otherOp applies an op on a thread, a claim or a manager.
func (st *Store) otherOp(s *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.AppendThread:
		return st.appendThread(s, o)
	case *agent.HibernateThread:
		return st.hibernateThread(s, o)
	case *agent.DeleteThread:
		return s.deleteThread(o)
	case *agent.CompactThread:
		return s.compactThread(o)
	case *agent.ForkThread:
		return opResult(st.forkThread(s, o))
	case *agent.TakeClaim:
		return takeClaim(st, s, o)
	case *agent.RenewClaim:
		return renewClaim(st, s, o)
	case *agent.ReleaseClaim:
		return releaseClaim(st, s, o)
	case *agent.PutManager:
		return putManager(st, s, o)
	case *agent.DeleteManager:
		return s.deleteManager(o)
	case *agent.AnswerSignal:
		return &agent.SignalResult{Hash: o.Hash, Reply: o.Reply}, nil
	case *agent.PutToken:
		return st.tokens.put(o, s.principal, s.now)
	case *agent.RevokeToken:
		return st.tokens.revoke(o, s.now), nil
	case *agent.ImportScope:
		return nil, agent.Invalid("op", "a store in memory has no rows to import")
	default:
		return nil, agent.Errorf(agent.CodeInternal, "unknown op %T", op)
	}
}

// opResult returns the result of an op without its type. A missing result is nil.
func opResult[R agent.OpResult](result R, e *agent.Error) (agent.OpResult, *agent.Error) {
	if e != nil {
		return nil, e
	}
	return result, nil
}
