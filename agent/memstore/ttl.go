package memstore

import "dormouse/agent"

// setTTL sets the ttl of a thread or a session; ConversationModel sets that of a
// conversation.
func (st *Store) setTTL(s *scope, o *agent.SetTTL) (agent.OpResult, *agent.Error) {
	if o.Thread != "" {
		t, err := s.openThread(o.Thread, o.IfIncarnation)
		if err != nil {
			return nil, err
		}
		if t.Incarnation == 0 {
			return nil, notFound("thread", o.Thread)
		}
		t.ExpiresAt = s.expiry(o.TTL)
		s.threads[t.ID] = t
		return t.result(nil), nil
	}
	session, ok := s.sessions.Sessions[o.Session]
	if !ok {
		return nil, notFound("session", o.Session)
	}
	if o.IfIncarnation != 0 && o.IfIncarnation != session.Incarnation {
		return nil, s.alive("session", o.Session, o.IfIncarnation, session.Incarnation)
	}
	session.ExpiresAt = s.expiry(o.TTL)
	return s.sessions.store(sessionHost{st, s}, session), nil
}
