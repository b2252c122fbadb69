package convert

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func changesToProto(e *agent.Event) *apipb.Changes {
	block := make([]apipb.Change, len(e.Changes)) // one allocation for all
	m := &apipb.Changes{Items: make([]*apipb.Change, len(e.Changes)), Through: e.Through}
	for i := range e.Changes {
		c, p := &e.Changes[i], &block[i]
		p.Index, p.Ordinal, p.Time = c.Index, c.Ordinal, c.Time
		p.Kind, p.Agent, p.Key = string(c.Kind), c.Agent, c.Key
		p.Conversation, p.Manager, p.Instance = c.Conversation, c.Manager, c.Instance
		p.Revision, p.Deleted, p.Status, p.Principal = c.Revision, c.Deleted, c.Status, c.Principal
		m.Items[i] = p
	}
	return m
}

func changesFromProto(m *apipb.Changes) []agent.Changed {
	if len(m.GetItems()) == 0 {
		return nil
	}
	changes := make([]agent.Changed, len(m.Items))
	for i, p := range m.Items {
		changes[i] = agent.Changed{
			Index: p.GetIndex(), Ordinal: p.GetOrdinal(), Time: p.GetTime(),
			Kind: agent.ChangeKind(p.GetKind()), Agent: p.GetAgent(), Key: p.GetKey(),
			Conversation: p.GetConversation(), Manager: p.GetManager(), Instance: p.GetInstance(),
			Revision: p.GetRevision(), Deleted: p.GetDeleted(), Status: p.GetStatus(), Principal: p.GetPrincipal(),
		}
	}
	return changes
}

// bodiesToProto returns one answer for each change, which is empty if the change has no body, and
// nil if no change has one.
func bodiesToProto(changes []agent.Changed) (bodies []*apipb.Answer) {
	for i := range changes {
		if changes[i].Body == nil {
			continue
		}
		if bodies == nil {
			bodies = make([]*apipb.Answer, len(changes))
			for j := range bodies {
				bodies[j] = &apipb.Answer{}
			}
		}
		answerToProto(bodies[i], &agent.Answer{Found: changes[i].Body})
	}
	return bodies
}

// bodiesFromProto sets the bodies of changes.
func bodiesFromProto(changes []agent.Changed, bodies []*apipb.Answer) error {
	if len(bodies) == 0 {
		return nil
	}
	if len(bodies) != len(changes) {
		return agent.Errorf(agent.CodeInternal, "%d changes have %d bodies", len(changes), len(bodies))
	}
	for i, body := range bodies {
		if body.GetAnswer() == nil {
			continue
		}
		answer, err := answerFromProto(body)
		if err != nil {
			return err
		}
		changes[i].Body = answer.Found
	}
	return nil
}
