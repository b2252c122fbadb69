package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
)

func readManager(r reader, q *agent.GetManager) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindManager, r.scope, q.Name))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, notFound("manager", q.Name)
	}
	row, err := command.DecodeManagerRow(q.Name, raw)
	if err != nil {
		return nil, err
	}
	return command.ManagerOf(q.Name, row), nil
}

func readManagers(r reader, q *agent.ListManagers) (agent.Found, error) {
	list := &agent.ManagerList{}
	var err error
	list.Next, err = r.eachInPage(kv.ScopeKey(kv.KindManager, r.scope), q.Page, func(name string, raw []byte) (int, error) {
		row, err := command.DecodeManagerRow(name, raw)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, *command.ManagerOf(name, row))
		return len(name) + len(raw), nil
	})
	return list, err
}
