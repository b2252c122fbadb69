package rest

import (
	"context"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeWholeAgents(f *web.API) {
	const tag, one = "agents", "/v1/agents/{key}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/fork", ID: "fork-agent", Tag: tag,
		Summary: "Fork an agent: checkpoint, thread, memories and a session, in one commit",
		Effect:  web.Writes, Condition: "if_revision", BodyNeeded: true, Status: http.StatusCreated, Creates: true, Answers: document.ForkedAgent{},
	}, forkAgent)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "erase-agent", Tag: tag,
		Summary: "Erase all data of an agent; answers with a receipt once the erasure is complete, or at the timeout",
		Effect:  web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation", "seal_ms"}, Answers: document.Erasure{},
	}, eraseAgent)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/erasure", ID: "get-erasure", Tag: tag, Summary: "Read the receipt of an agent's erasure",
		Effect: web.Reads, Answers: document.Erasure{},
	}, getErasure)
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: "/v1/threads/{id}/ttl", ID: "set-thread-ttl", Tag: "threads", Summary: "Set when a thread expires",
		Effect: web.Writes, BodyNeeded: true, Answers: document.Thread{},
	}, setThreadTTL)
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: "/v1/sessions/{id}/ttl", ID: "set-session-ttl", Tag: "sessions", Summary: "Set when a session expires",
		Effect: web.Writes, BodyNeeded: true, Answers: document.SessionRow{},
	}, setSessionTTL)
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: "/v1/conversations/{id}/ttl", ID: "set-conversation-ttl", Tag: "conversations",
		Summary: "Set when a conversation expires",
		Effect:  web.Writes, BodyNeeded: true, Answers: document.ConversationRow{},
	}, setConversationTTL)
}

func forkAgent(c *web.Request, body *document.ForkAgentBody) error {
	op := body.ToOp(c.ID("key"))
	op.IfRevision = c.Conditioned(op.IfRevision)
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	forked, err := web.ResultOf[*agent.ForkedAgent](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{
		Revision: &forked.Checkpoint.Revision, Body: document.ForkedAgentOf(forked), Location: web.PathOf("checkpoints", forked.Checkpoint.Key),
	})
}

// eraseAgent waits until the receipt is complete. If the call times out first, or a read of the
// receipt fails, it answers with the latest receipt.
func eraseAgent(c *web.Request, _ *web.None) error {
	op := &agent.EraseAgent{
		Agent: c.ID("key"), IfRevision: c.Conditioned(c.Optional("if_revision")), IfIncarnation: c.Number("if_incarnation"), Seal: c.Duration("seal_ms"),
	}
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	receipt, err := web.ResultOf[*agent.Erasure](result, 0)
	if err != nil {
		return err
	}
	receipt, _ = agent.AwaitErasure(c.Context, receipt, func(context.Context) (*agent.Erasure, error) {
		return web.ReadNow[*agent.Erasure](c, &agent.GetErasure{Agent: op.Agent})
	})
	return c.Answer(web.Reply{Body: document.ErasureOf(receipt)}) // the agent is erased, as requested
}

func getErasure(c *web.Request, _ *web.None) error {
	receipt, err := web.Read[*agent.Erasure](c, &agent.GetErasure{Agent: c.ID("key")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ErasureOf(receipt)})
}

func setThreadTTL(c *web.Request, body *document.TtlBody) error {
	result, err := setTTL(c, body, &agent.SetTTL{Thread: c.ID("id")})
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &done.Thread.Rev, Body: document.ThreadOf(done.Thread)})
}

func setSessionTTL(c *web.Request, body *document.TtlBody) error {
	result, err := setTTL(c, body, &agent.SetTTL{Session: c.ID("id")})
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.SessionResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &done.Session.Revision, Body: document.SessionRowOf(done.Session)})
}

func setConversationTTL(c *web.Request, body *document.TtlBody) error {
	result, err := setTTL(c, body, &agent.SetTTL{Conversation: c.ID("id")})
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ConversationResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &done.Conversation.Revision, Body: document.ConversationRowOf(done.Conversation)})
}

func setTTL(c *web.Request, body *document.TtlBody, op *agent.SetTTL) (agent.Result, error) {
	ttl, err := body.TTL()
	if err != nil {
		return agent.Result{}, err
	}
	op.TTL, op.IfIncarnation = ttl, body.IfIncarnation
	return c.Commit(op)
}
