package fsm_test

import (
	"fmt"

	"pgregory.net/rapid"

	"dormouse/agent"
)

func (m *model) managerOp(op agent.Op, got agent.OpResult) (agent.OpResult, agent.Code) {
	switch op := op.(type) {
	case *agent.PutManager:
		old := m.managers[op.Manager.Name]
		if !revisionIs(op.IfRevision, old.Revision) {
			return nil, agent.CodeRevisionMismatch
		}
		kept := op.Manager
		kept.Incarnation, kept.CreatedAt, kept.UpdatedAt, kept.Revision = old.Incarnation, old.CreatedAt, m.now, old.Revision+1
		if got, ok := got.(*agent.ManagerResult); ok && old.Revision == 0 {
			kept.Incarnation, kept.CreatedAt = m.born(got.Manager.Incarnation), m.now
		}
		m.managers[kept.Name] = kept
		return &agent.ManagerResult{Manager: kept}, ""
	case *agent.DeleteManager:
		old, found := m.managers[op.Name]
		if !revisionIs(op.IfRevision, old.Revision) {
			return nil, agent.CodeRevisionMismatch
		}
		delete(m.managers, op.Name)
		return &agent.DeleteResult{Existed: found, Incarnation: old.Incarnation}, ""
	case *agent.AnswerSignal:
		return &agent.SignalResult{Hash: op.Hash, Reply: op.Reply}, ""
	default:
		return m.sessionOp(op, got)
	}
}

func (g *generator) managerOp(t *rapid.T, name string) agent.Op {
	if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
		return &agent.DeleteManager{Name: name, IfRevision: near(t, g.model.managers[name].Revision)}
	}
	return &agent.PutManager{
		Manager: agent.Manager{
			Name: name, Handler: agent.Handler{Kind: agent.HandlerDocument}, Durability: agent.DurabilityTurn, Storage: agent.KeepCluster,
			Version: 1, Metadata: agent.JSON(fmt.Sprintf(`{"n":%d}`, g.n)),
		},
		IfRevision: near(t, g.model.managers[name].Revision),
	}
}

// sameManagers compares all managers, and the answers about requests, with the model. It returns
// the managers' bytes.
func sameManagers(t *rapid.T, r *subject, m *model) (bytes uint64) {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		kept, found := m.managers[name]
		same(t, r, &agent.GetManager{Name: name}, &kept, found)
		if found {
			bytes += uint64(kept.Size())
		}
	}
	for seq, decided := range m.answers {
		if seq >= m.low {
			same(t, r, &agent.GetAnswer{Client: "client", Seq: seq}, &decided, true)
		} else if got := r.answer(&agent.GetAnswer{Client: "client", Seq: seq}); got.Err == nil || got.Err.Code != agent.CodeRequestExpired {
			t.Fatalf("request %d is below %d, and its answer is %+v", seq, m.low, got)
		}
	}
	return bytes
}
