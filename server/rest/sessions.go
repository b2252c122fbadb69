package rest

import (
	"net/http"

	"github.com/google/uuid"

	"dormouse/agent"
	"dormouse/api/document"
)

// sessionIDs is the name space of session ids that are made of idempotency keys.
var sessionIDs = uuid.MustParse("0f3de8a4-92c6-4d0b-8b1c-3a4b6f2f7a52")

func (f *front) routeSessions() {
	const tag, all, one = "sessions", "/v1/sessions", "/v1/sessions/{id}"
	register(f, route{
		method: http.MethodPost, path: all, id: "create-session", tag: tag, summary: "Create a session with a generated id",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.SessionRow{},
	}, (*call).createSession)
	register(f, route{
		method: http.MethodPut, path: one, id: "put-session", tag: tag,
		summary: "Create a session, or with a revision write over one that has no lease",
		effect:  writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: document.SessionRow{},
	}, (*call).putSession)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-session", tag: tag, summary: "Read a session with all that is kept of it",
		effect: reads, answers: document.Session{},
	}, (*call).getSession)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-session", tag: tag, summary: "Delete a session with its lease and its reviews",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, (*call).deleteSession)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-sessions", tag: tag,
		summary: "List sessions in id order: all, or by one of status, owner, agent_id and recoverable",
		effect:  reads, query: append([]string{"status", "owner", "agent_id", "recoverable"}, listQuery...), answers: document.List[document.SessionRow]{},
	}, (*call).listSessions)
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-session", tag: tag, summary: "Make another session of one that does not run",
		effect: writes, condition: "if_revision", bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.SessionRow{},
	}, (*call).forkSession)
	f.routeTurns()
}

// routeTurns are the calls that begin, carry on and end turns.
func (f *front) routeTurns() {
	turn := func(verb, summary string) route {
		return route{
			method: http.MethodPost, path: "/v1/sessions/{id}/" + verb, id: verb + "-session", tag: "sessions", summary: summary,
			effect: writes, bodyNeeded: true, answers: document.Turned{},
		}
	}
	register(f, turn("claim", "Begin a turn under a new lease"),
		func(c *call, body *document.ClaimSessionBody) error { return c.turn(body.ToOp(c.id("id"))) })
	register(f, turn("claim_resume", "Take a turn up again that hibernates or waits, under a new lease"),
		func(c *call, body *document.RunnerBody) error { return c.turn(body.ToResume(c.id("id"))) })
	register(f, turn("recover", "Take over a turn whose lease has expired, under a new one"),
		func(c *call, body *document.RunnerBody) error { return c.turn(body.ToRecover(c.id("id"))) })
	register(f, turn("checkpoint", "Keep a snapshot of the turn that runs, and renew its lease"),
		func(c *call, body *document.CheckpointSessionBody) error { return c.turn(body.ToOp(c.id("id"))) })
	register(f, turn("commit", "End the turn that runs, and its lease"),
		func(c *call, body *document.EndTurnBody) error { return c.turn(body.ToOp(c.id("id"))) })
	register(f, turn("renew", "Give a lease its full ttl again"),
		func(c *call, body *document.RenewSessionBody) error { return c.turn(body.ToOp(c.id("id"))) })
	cancel := turn("cancel", "End whatever a session does: its turn is fenced, its queue emptied, its reviews withdrawn")
	cancel.bodyNeeded, cancel.condition = false, "if_revision"
	register(f, cancel, func(c *call, body *document.CancelSessionBody) error {
		op := body.ToOp(c.id("id"))
		op.IfRevision = c.conditioned(op.IfRevision)
		return c.turn(op, nil)
	})
}

// changeSession commits one op on a session.
func (c *call) changeSession(op agent.Op) (*agent.SessionResult, error) {
	result, err := c.commit(op)
	if err != nil {
		return nil, err
	}
	return resultOf[*agent.SessionResult](result, 0)
}

// turn commits an op that a body asks for, if it does.
func (c *call) turn(op agent.Op, err error) error {
	if err != nil {
		return err
	}
	done, err := c.changeSession(op)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Session.Revision, body: document.TurnedOf(done)})
}

func (c *call) createSession(body *document.SessionBody) error {
	id, err := c.newID("session_", sessionIDs)
	if err != nil {
		return err
	}
	op := body.ToOp(id)
	if op.IfRevision == nil {
		op.IfRevision = new(uint64) // in classic mode too: the id is new
	}
	return c.storeSession(op)
}

func (c *call) putSession(body *document.SessionBody) error {
	op := body.ToOp(c.id("id"))
	op.IfRevision = c.conditioned(op.IfRevision)
	return c.storeSession(op)
}

func (c *call) forkSession(body *document.ForkSessionBody) error {
	op := body.ToOp(c.id("id"))
	op.IfRevision = c.conditioned(op.IfRevision)
	return c.storeSession(op)
}

// storeSession commits an op that may create a session.
func (c *call) storeSession(op agent.Op) error {
	done, err := c.changeSession(op)
	if err != nil {
		return err
	}
	a := reply{revision: &done.Session.Revision, body: document.SessionRowOf(done.Session)}
	if done.Session.Revision == 1 { // revisions count from 1 in each incarnation
		a.location = location("sessions", done.Session.ID)
	}
	return c.answer(a)
}

func (c *call) getSession(*none) error {
	found, err := read[*agent.Session](c, &agent.GetSession{Session: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: document.SessionOf(found)})
}

func (c *call) deleteSession(*none) error {
	_, err := c.commit(&agent.DeleteSession{
		Session:       c.id("id"),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func (c *call) listSessions(*none) error {
	found, err := read[*agent.SessionList](c, &agent.ListSessions{
		Page:        c.page(),
		Status:      agent.SessionStatus(c.text("status")),
		Owner:       c.text("owner"),
		Agent:       c.text("agent_id"),
		Recoverable: c.flag("recoverable"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.SessionRowOf)})
}
