package command_test

import (
	"pgregory.net/rapid"

	"dormouse/agent"
)

var genManager = rapid.Custom(func(t *rapid.T) agent.Manager {
	m := *any1[agent.Manager](t)
	spans(t, nil, &m.IdleTimeout, &m.SignalTTL, &m.AttachTTL)
	m.MailboxMax, m.AwakeMax = rapid.IntRange(0, 1<<31-1).Draw(t, "mailbox"), rapid.IntRange(0, 1<<31-1).Draw(t, "awake")
	return m
})

// genManagerOps has a generator for every kind of op on managers and signals.
var genManagerOps = []*rapid.Generator[agent.Op]{
	rapid.Custom(func(t *rapid.T) agent.Op {
		m := genManager.Draw(t, "manager")
		m.Incarnation, m.Revision, m.CreatedAt, m.UpdatedAt = 0, 0, 0, 0 // the store's
		return &agent.PutManager{Manager: m, IfRevision: optional(t, genNumber, "if_revision")}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.DeleteManager](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.AnswerSignal](t) }),
}

var genManagerResult = rapid.OneOf(
	rapid.Custom(func(t *rapid.T) agent.OpResult { return &agent.ManagerResult{Manager: genManager.Draw(t, "manager")} }),
	rapid.Custom(func(t *rapid.T) agent.OpResult { return any1[agent.SignalResult](t) }),
)

func init() { genOps = append(genOps, genManagerOps...) }
