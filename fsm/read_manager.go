package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

func readManager(r txn.Reader, q *agent.GetManager) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindManager, r.Scope, q.Name))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("manager", q.Name)
	}
	row, err := command.DecodeManagerRow(q.Name, raw)
	if err != nil {
		return nil, err
	}
	return command.ManagerOf(q.Name, row), nil
}

func readManagers(r txn.Reader, q *agent.ListManagers) (agent.Found, error) {
	list := &agent.ManagerList{}
	var err error
	list.Next, err = r.EachInPage(kv.ScopeKey(kv.KindManager, r.Scope), q.Page, func(name string, raw []byte) (int, error) {
		row, err := command.DecodeManagerRow(name, raw)
		if err != nil {
			return 0, err
		}
		list.Items = append(list.Items, *command.ManagerOf(name, row))
		return len(name) + len(raw), nil
	})
	return list, err
}
