package rest

import (
	"context"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeWholeAgents(f *api) {
	const tag, one = "agents", "/v1/agents/{key}"
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-agent", tag: tag,
		summary: "Fork an agent: checkpoint, thread, memories and a session, in one commit",
		effect:  writes, condition: "if_revision", bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.ForkedAgent{},
	}, forkAgent)
	register(f, route{
		method: http.MethodDelete, path: one, id: "erase-agent", tag: tag,
		summary: "Erase all data of an agent; answers with a receipt once the erasure is complete, or at the timeout",
		effect:  writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, answers: document.Erasure{},
	}, eraseAgent)
	register(f, route{
		method: http.MethodGet, path: one + "/erasure", id: "get-erasure", tag: tag, summary: "Read the receipt of an agent's erasure",
		effect: reads, answers: document.Erasure{},
	}, getErasure)
	register(f, route{
		method: http.MethodPut, path: "/v1/threads/{id}/ttl", id: "set-thread-ttl", tag: "threads", summary: "Set when a thread expires",
		effect: writes, bodyNeeded: true, answers: document.Thread{},
	}, setThreadTTL)
	register(f, route{
		method: http.MethodPut, path: "/v1/sessions/{id}/ttl", id: "set-session-ttl", tag: "sessions", summary: "Set when a session expires",
		effect: writes, bodyNeeded: true, answers: document.SessionRow{},
	}, setSessionTTL)
	register(f, route{
		method: http.MethodPut, path: "/v1/conversations/{id}/ttl", id: "set-conversation-ttl", tag: "conversations",
		summary: "Set when a conversation expires",
		effect:  writes, bodyNeeded: true, answers: document.ConversationRow{},
	}, setConversationTTL)
}

func forkAgent(c *request, body *document.ForkAgentBody) error {
	op := body.ToOp(c.id("key"))
	op.IfRevision = c.conditioned(op.IfRevision)
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	forked, err := resultOf[*agent.ForkedAgent](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{
		revision: &forked.Checkpoint.Revision, body: document.ForkedAgentOf(forked), location: location("checkpoints", forked.Checkpoint.Key),
	})
}

// eraseAgent waits until the receipt is complete. If the call times out first, or a read of the
// receipt fails, it answers with the latest receipt.
func eraseAgent(c *request, _ *none) error {
	op := &agent.EraseAgent{
		Agent: c.id("key"), IfRevision: c.conditioned(c.optional("if_revision")), IfIncarnation: c.number("if_incarnation"), Seal: c.duration("seal_ms"),
	}
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	receipt, err := resultOf[*agent.Erasure](result, 0)
	if err != nil {
		return err
	}
	receipt, _ = agent.AwaitErasure(c.ctx, receipt, func(context.Context) (*agent.Erasure, error) {
		return readNow[*agent.Erasure](c, &agent.GetErasure{Agent: op.Agent})
	})
	return c.answer(reply{body: document.ErasureOf(receipt)}) // the agent is erased, as requested
}

func getErasure(c *request, _ *none) error {
	receipt, err := read[*agent.Erasure](c, &agent.GetErasure{Agent: c.id("key")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ErasureOf(receipt)})
}

func setThreadTTL(c *request, body *document.TtlBody) error {
	result, err := setTTL(c, body, &agent.SetTTL{Thread: c.id("id")})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Thread.Rev, body: document.ThreadOf(done.Thread)})
}

func setSessionTTL(c *request, body *document.TtlBody) error {
	result, err := setTTL(c, body, &agent.SetTTL{Session: c.id("id")})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.SessionResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Session.Revision, body: document.SessionRowOf(done.Session)})
}

func setConversationTTL(c *request, body *document.TtlBody) error {
	result, err := setTTL(c, body, &agent.SetTTL{Conversation: c.id("id")})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ConversationResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Conversation.Revision, body: document.ConversationRowOf(done.Conversation)})
}

func setTTL(c *request, body *document.TtlBody, op *agent.SetTTL) (agent.Result, error) {
	ttl, err := body.TTL()
	if err != nil {
		return agent.Result{}, err
	}
	op.TTL, op.IfIncarnation = ttl, body.IfIncarnation
	return c.commit(op)
}
