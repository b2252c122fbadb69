package memstore

import "dormouse/agent"

func (m SessionModel) fork(h SessionHost, o *agent.ForkSession) (agent.OpResult, *agent.Error) {
	source, there := m.Sessions[o.Session]
	old, taken := m.Sessions[o.NewSession]
	switch {
	case !there:
		return nil, agent.Errorf(agent.CodeNotFound, "there is no session %q", o.Session)
	case o.IfIncarnation != 0 && o.IfIncarnation != source.Incarnation:
		return nil, refuse(agent.CodeDeleted, source)
	case o.IfRevision != nil && *o.IfRevision != source.Revision:
		return nil, refuse(agent.CodeStaleSessionRevision, source)
	case source.Status == agent.SessionRunning:
		return nil, refuse(agent.CodeSessionAlreadyRunning, source)
	case taken:
		return nil, refuse(agent.CodeAlreadyExists, old)
	}
	if e := h.Enter(o.NewSession, 0, 0); e != nil {
		return nil, e
	}
	n := len(source.Snapshots)
	for o.Snapshot != "" && n > 0 && source.Snapshots[n-1].ID != o.Snapshot {
		n--
	}
	if o.Snapshot != "" && n == 0 {
		return nil, refuse(agent.CodeMissingSnapshot, source)
	}
	s := source
	s.ID, s.Incarnation, s.Revision, s.CreatedAt = o.NewSession, h.Born(), 0, h.Now()
	s.SessionSettings, s.Queue, s.asked, s.failure = source.SettingsForFork(), nil, nil, source.failure
	s.Snapshots, s.turns = source.Snapshots[:n:n], source.turns[:n:n]
	s.Lineage = &agent.Lineage{Session: source.ID, Incarnation: source.Incarnation, Revision: source.Revision}
	if n > 0 {
		s.Lineage.Snapshot = s.Snapshots[n-1].ID
		if o.Snapshot != "" || paused(source.Status) {
			s.Status, s.RequestID, s.request = agent.SessionHibernated, s.Snapshots[n-1].RequestID, s.turns[n-1]
		}
	}
	return m.store(h, s), nil
}

func (m SessionModel) delete(h SessionHost, o *agent.DeleteSession) (agent.OpResult, *agent.Error) {
	s, there := m.Sessions[o.Session]
	if o.IfIncarnation != 0 && o.IfIncarnation != s.Incarnation {
		return nil, refuse(agent.CodeDeleted, s)
	}
	if o.IfRevision != nil && *o.IfRevision != s.Revision {
		return nil, refuse(agent.CodeRevisionMismatch, s)
	}
	h.Seal(o.Session, s.Incarnation, o.Seal)
	if there {
		m.end(h, &s)
		for _, id := range s.asked {
			delete(m.Reviews, id)
		}
		delete(m.Sessions, s.ID)
	}
	return &agent.DeleteResult{Existed: there, Incarnation: s.Incarnation}, nil
}
