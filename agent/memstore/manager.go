package memstore

import "dormouse/agent"

func putManager(st *Store, s *scope, o *agent.PutManager) (agent.OpResult, *agent.Error) {
	m := o.Manager
	old := s.managers[m.Name]
	if e := atRevision(o.IfRevision, old.Revision); e != nil {
		return nil, e
	}
	if m.Incarnation, m.CreatedAt = old.Incarnation, old.CreatedAt; old.Revision == 0 {
		m.Incarnation, m.CreatedAt = st.newIncarnation(), s.now
	}
	m.Revision, m.UpdatedAt = old.Revision+1, s.now
	s.managers[m.Name] = m
	return &agent.ManagerResult{Manager: m}, nil
}

func (s *scope) deleteManager(o *agent.DeleteManager) (agent.OpResult, *agent.Error) {
	old := s.managers[o.Name]
	if e := atRevision(o.IfRevision, old.Revision); e != nil {
		return nil, e
	}
	delete(s.managers, o.Name)
	return &agent.DeleteResult{Existed: old.Revision != 0, Incarnation: old.Incarnation}, nil
}

func (s *scope) listManagers(q *agent.ListManagers) *agent.ManagerList {
	names, next := sorted(s.managers, q.Page)
	list := &agent.ManagerList{Next: next}
	for _, name := range names {
		list.Items = append(list.Items, s.managers[name])
	}
	return list
}
