package rest

import (
	"context"
	"net/http"

	"dormouse/agent"
)

// forkAgentBody says what a fork of an agent is called, and what goes along.
type forkAgentBody struct {
	NewAgent      string  `json:"new_agent" doc:"Its key, under which there is nothing yet"`
	NewThread     string  `json:"new_thread,omitempty" doc:"Its thread's id; new_agent where absent"`
	Revision      uint64  `json:"revision,omitempty" doc:"Of the checkpoint: an older one that is kept; 0 means the current one"`
	WithoutMemory bool    `json:"without_memory,omitempty" doc:"Else what the agent remembers is copied, at most 4,096 memories"`
	Session       string  `json:"session,omitempty" doc:"A session of the agent that goes along, which must not run"`
	NewSession    string  `json:"new_session,omitempty" doc:"Its id in the fork"`
	IfRevision    *uint64 `json:"if_revision,omitempty" doc:"Apply only at this revision of the checkpoint"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

func (b *forkAgentBody) ToOp(key string) *agent.ForkAgent {
	return &agent.ForkAgent{
		Agent: key, NewAgent: b.NewAgent, NewThread: b.NewThread, Revision: b.Revision, WithoutMemory: b.WithoutMemory,
		Session: b.Session, NewSession: b.NewSession, IfRevision: b.IfRevision, IfIncarnation: b.IfIncarnation,
	}
}

// forkedAgent answers a fork of an agent.
type forkedAgent struct {
	Checkpoint checkpointStamp `json:"checkpoint"`
	Thread     *thread         `json:"thread" doc:"null where the agent has none"`
	Session    *sessionRow     `json:"session,omitempty"`
	Memories   uint64          `json:"memories" doc:"That were copied"`
}

func forkedAgentOf(r *agent.ForkedAgent) forkedAgent {
	out := forkedAgent{Checkpoint: checkpointStampOf(&r.Checkpoint), Memories: r.Memories}
	if r.Thread != nil {
		t := threadOf(*r.Thread)
		out.Thread = &t
	}
	if r.Session != nil {
		s := sessionRowOf(*r.Session)
		out.Session = &s
	}
	return out
}

// erasure is the receipt of an agent that was erased.
type erasure struct {
	Agent       string `json:"agent"`
	Index       uint64 `json:"index" doc:"Of the log: from there on nothing of the agent can be read"`
	ErasedAt    int64  `json:"erased_at"`
	Complete    bool   `json:"complete" doc:"All has been cleared away, and the live instance has ended; until then the counts grow"`
	CompletedAt int64  `json:"completed_at,omitzero"`
	SealedUntil int64  `json:"sealed_until,omitzero" doc:"Every write to it is refused until then"`
	Checkpoints uint64 `json:"checkpoints"`
	Revisions   uint64 `json:"revisions" doc:"Of the checkpoints"`
	Threads     uint64 `json:"threads"`
	Entries     uint64 `json:"entries" doc:"Of the threads; those that a fork shares stay with the fork"`
	Memories    uint64 `json:"memories"`
	Sessions    uint64 `json:"sessions"`
	Reviews     uint64 `json:"reviews"`
	Claims      uint64 `json:"claims" doc:"Leases of the sessions"`
	Timers      uint64 `json:"timers" doc:"Of an instance, those of its recurring jobs included"`
	Instances   uint64 `json:"instances" doc:"1 where the agent is an instance, awake or dormant"`

	Conversations *uint64 `json:"conversations,omitempty" doc:"Absent where they were not looked for, and stay: not all nodes could; erase the agent again then"`

	Kept uint64 `json:"kept" doc:"Threads and checkpoints that stay, since another agent uses them too"`
	Hash string `json:"hash" doc:"SHA-256 over all that was removed, in order"`
}

func erasureOf(e *agent.Erasure) erasure {
	return erasure{
		Agent: e.Agent, Index: e.Index, ErasedAt: e.ErasedAt, Complete: e.Complete(), CompletedAt: e.CompletedAt, SealedUntil: e.SealedUntil,
		Checkpoints: e.Checkpoints, Revisions: e.Revisions, Threads: e.Threads, Entries: e.Entries, Memories: e.Memories,
		Sessions: e.Sessions, Reviews: e.Reviews, Claims: e.Claims, Timers: e.Timers, Instances: e.Instances,
		Conversations: e.Conversations, Kept: e.Kept, Hash: e.Hash.String(),
	}
}

// ttlBody says when a thread, a session or a conversation goes by itself.
type ttlBody struct {
	TTLMS         uint64 `json:"ttl_ms" doc:"From this call on, in log time; 0 means never"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

type forkAgentOp struct {
	opName
	Agent string `json:"agent"`
	forkAgentBody
}

type eraseAgentOp struct {
	opName
	Agent         string  `json:"agent"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

type setTTLOp struct {
	opName
	Thread         string `json:"thread,omitempty" doc:"This, the session, or the conversation"`
	Session        string `json:"session,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	ttlBody
}

type getErasureRead struct {
	readName
	Agent string `json:"agent"`
}

func (o *forkAgentOp) op() (agent.Op, error) { return o.forkAgentBody.ToOp(o.Agent), nil }

func (o *eraseAgentOp) op() (agent.Op, error) {
	seal, err := timed("seal_ms", o.SealMS)
	return &agent.EraseAgent{Agent: o.Agent, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}

func (o *setTTLOp) op() (agent.Op, error) {
	ttl, err := timed("ttl_ms", o.TTLMS)
	return &agent.SetTTL{Thread: o.Thread, Session: o.Session, Conversation: o.ConversationID, TTL: ttl, IfIncarnation: o.IfIncarnation}, err
}

func (r getErasureRead) read() agent.Read { return &agent.GetErasure{Agent: r.Agent} }

func (f *front) routeWholeAgents() {
	const tag, one = "agents", "/v1/agents/{key}"
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-agent", tag: tag,
		summary: "Make another agent of one: checkpoint, thread, memories and a session, in one commit",
		effect:  writes, condition: "if_revision", bodyNeeded: true, status: http.StatusCreated, creates: true, answers: forkedAgent{},
	}, (*call).forkAgent)
	register(f, route{
		method: http.MethodDelete, path: one, id: "erase-agent", tag: tag,
		summary: "Erase an agent everywhere; answers with a receipt once all is cleared away, or when the time is over",
		effect:  writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, answers: erasure{},
	}, (*call).eraseAgent)
	register(f, route{
		method: http.MethodGet, path: one + "/erasure", id: "get-erasure", tag: tag, summary: "Read the receipt of an agent that was erased",
		effect: reads, answers: erasure{},
	}, (*call).getErasure)
	register(f, route{
		method: http.MethodPut, path: "/v1/threads/{id}/ttl", id: "set-thread-ttl", tag: "threads", summary: "Say when a thread goes by itself",
		effect: writes, bodyNeeded: true, answers: thread{},
	}, (*call).setThreadTTL)
	register(f, route{
		method: http.MethodPut, path: "/v1/sessions/{id}/ttl", id: "set-session-ttl", tag: "sessions", summary: "Say when a session goes by itself",
		effect: writes, bodyNeeded: true, answers: sessionRow{},
	}, (*call).setSessionTTL)
	register(f, route{
		method: http.MethodPut, path: "/v1/conversations/{id}/ttl", id: "set-conversation-ttl", tag: "conversations",
		summary: "Say when a conversation goes by itself",
		effect:  writes, bodyNeeded: true, answers: conversationRow{},
	}, (*call).setConversationTTL)
}

func (c *call) forkAgent(body *forkAgentBody) error {
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
		revision: &forked.Checkpoint.Revision, body: forkedAgentOf(forked), location: location("checkpoints", forked.Checkpoint.Key),
	})
}

// eraseAgent waits until the receipt is complete. Where the call's time is over
// before that, or a look fails, it answers with the receipt as it stands.
func (c *call) eraseAgent(*none) error {
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
	receipt, _ = agent.AwaitErasure(c.r.Context(), receipt, func(context.Context) (*agent.Erasure, error) {
		return readNow[*agent.Erasure](c, &agent.GetErasure{Agent: op.Agent})
	})
	return c.answer(reply{body: erasureOf(receipt)}) // it is erased, which is what was asked for
}

func (c *call) getErasure(*none) error {
	receipt, err := read[*agent.Erasure](c, &agent.GetErasure{Agent: c.id("key")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: erasureOf(receipt)})
}

func (c *call) setThreadTTL(body *ttlBody) error {
	result, err := c.setTTL(body, &agent.SetTTL{Thread: c.id("id")})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Thread.Rev, body: threadOf(done.Thread)})
}

func (c *call) setSessionTTL(body *ttlBody) error {
	result, err := c.setTTL(body, &agent.SetTTL{Session: c.id("id")})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.SessionResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Session.Revision, body: sessionRowOf(done.Session)})
}

func (c *call) setConversationTTL(body *ttlBody) error {
	result, err := c.setTTL(body, &agent.SetTTL{Conversation: c.id("id")})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ConversationResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Conversation.Revision, body: conversationRowOf(done.Conversation)})
}

func (c *call) setTTL(body *ttlBody, op *agent.SetTTL) (agent.Result, error) {
	ttl, err := timed("ttl_ms", body.TTLMS)
	if err != nil {
		return agent.Result{}, err
	}
	op.TTL, op.IfIncarnation = ttl, body.IfIncarnation
	return c.commit(op)
}
