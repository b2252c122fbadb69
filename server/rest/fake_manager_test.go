package rest_test

import (
	"maps"
	"slices"

	"dormouse/agent"
)

func (f *fake) changeManager(s *fakeScope, op agent.Op, incarnation uint64) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.PutManager:
		m, old := o.Manager, s.managers[o.Manager.Name]
		if o.IfRevision != nil && *o.IfRevision != old.Revision {
			return nil, &agent.Error{Code: agent.CodeRevisionMismatch, Revision: old.Revision}
		}
		m.Incarnation, m.Revision, m.CreatedAt, m.UpdatedAt = incarnation, old.Revision+1, f.now(), f.now()
		if s.managers == nil {
			s.managers = map[string]agent.Manager{}
		}
		s.managers[m.Name] = m
		return &agent.ManagerResult{Manager: m}, nil
	case *agent.DeleteManager:
		_, existed := s.managers[o.Name]
		delete(s.managers, o.Name)
		return &agent.DeleteResult{Existed: existed}, nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "an op of another noun")
	}
}

func (s *fakeScope) manager(r agent.Read) (agent.Found, *agent.Error) {
	if q, ok := r.(*agent.GetManager); ok {
		if m, found := s.managers[q.Name]; found {
			return &m, nil
		}
		return nil, agent.Errorf(agent.CodeNotFound, "there is no manager %q", q.Name)
	}
	list := &agent.ManagerList{}
	for _, name := range slices.Sorted(maps.Keys(s.managers)) {
		list.Items = append(list.Items, s.managers[name])
	}
	return list, nil
}
