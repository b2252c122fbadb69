package manager

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// Get answers get_manager.
func Get(r txn.Reader, q *agent.GetManager) (agent.Found, error) {
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

// List answers list_managers.
func List(r txn.Reader, q *agent.ListManagers) (agent.Found, error) {
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
