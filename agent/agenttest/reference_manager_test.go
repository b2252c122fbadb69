package agenttest_test

import "dormouse/agent"

func (r *reference) managerOp(s *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.PutManager:
		m := o.Manager
		old := s.managers[m.Name]
		if err := atRevision(o.IfRevision, old.Revision); err != nil {
			return nil, err
		}
		if m.Incarnation, m.CreatedAt = old.Incarnation, old.CreatedAt; old.Revision == 0 {
			m.Incarnation, m.CreatedAt = r.mint(), r.now
		}
		m.Revision, m.UpdatedAt = old.Revision+1, r.now
		s.managers[m.Name] = m
		return &agent.ManagerResult{Manager: m}, nil
	case *agent.DeleteManager:
		old := s.managers[o.Name]
		if err := atRevision(o.IfRevision, old.Revision); err != nil {
			return nil, err
		}
		delete(s.managers, o.Name)
		return &agent.DeleteResult{Existed: old.Revision != 0, Incarnation: old.Incarnation}, nil
	case *agent.AnswerSignal:
		return &agent.SignalResult{Hash: o.Hash, Reply: o.Reply}, nil
	default:
		return r.claimOp(s, op)
	}
}

func (r *reference) managerRead(s *scope, one agent.Read) (agent.Found, *agent.Error) {
	switch q := one.(type) {
	case *agent.GetManager:
		if m, ok := s.managers[q.Name]; ok {
			return &m, nil
		}
		return nil, notFound("manager")
	case *agent.ListManagers:
		names, next := sorted(s.managers, q.Page)
		list := &agent.ManagerList{Next: next}
		for _, name := range names {
			list.Items = append(list.Items, s.managers[name])
		}
		return list, nil
	case *agent.GetAnswer:
		client := s.Name + "\x00" + q.Client
		if known, ok := r.answers[client][q.Seq]; ok {
			return &agent.Decided{Result: known.result, Err: known.err}, nil
		}
		if q.Seq < r.lows[client] {
			return nil, agent.Errorf(agent.CodeRequestExpired, "below low")
		}
		return nil, notFound("answer")
	default:
		return r.list(s, one), nil
	}
}
