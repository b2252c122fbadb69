package rest

import (
	"net/http"

	"github.com/google/uuid"

	"dormouse/agent"
)

// sessionIDs is the name space of session ids that are made of idempotency keys.
var sessionIDs = uuid.MustParse("0f3de8a4-92c6-4d0b-8b1c-3a4b6f2f7a52")

// turned answers a call that begins, carries on or ends a turn.
type turned struct {
	Session  sessionRow `json:"session"`
	Lease    *lease     `json:"lease,omitzero" doc:"That the call has; left out where it has none, as for a claim that waits"`
	Recovery *recovery  `json:"recovery,omitzero" doc:"Of claim_resume and recover"`
	Queued   uint64     `json:"queued,omitzero" doc:"Of claim: the request's place in the queue, from 1; left out where it runs"`
}

// recovery says how a turn goes on: one of the two is there.
type recovery struct {
	Resume  string `json:"resume,omitzero" doc:"From the snapshot of this id"`
	Restart string `json:"restart,omitzero" doc:"From the beginning, with the request of this id"`
}

func turnedOf(r *agent.SessionResult) turned {
	out := turned{Session: sessionRowOf(r.Session), Lease: leaseOf(r.Session.Lease), Queued: r.Queued}
	if r.Recovery != nil {
		out.Recovery = &recovery{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return out
}

func (f *front) routeSessions() {
	const tag, all, one = "sessions", "/v1/sessions", "/v1/sessions/{id}"
	register(f, route{
		method: http.MethodPost, path: all, id: "create-session", tag: tag, summary: "Create a session with a generated id",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: sessionRow{},
	}, (*call).createSession)
	register(f, route{
		method: http.MethodPut, path: one, id: "put-session", tag: tag,
		summary: "Create a session, or with a revision write over one that has no lease",
		effect:  writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: sessionRow{},
	}, (*call).putSession)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-session", tag: tag, summary: "Read a session with all that is kept of it",
		effect: reads, answers: session{},
	}, (*call).getSession)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-session", tag: tag, summary: "Delete a session with its lease and its reviews",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, (*call).deleteSession)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-sessions", tag: tag,
		summary: "List sessions in id order: all, or by one of status, owner, agent_id and recoverable",
		effect:  reads, query: append([]string{"status", "owner", "agent_id", "recoverable"}, listQuery...), answers: list[sessionRow]{},
	}, (*call).listSessions)
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-session", tag: tag, summary: "Make another session of one that does not run",
		effect: writes, condition: "if_revision", bodyNeeded: true, status: http.StatusCreated, creates: true, answers: sessionRow{},
	}, (*call).forkSession)
	f.routeTurns()
}

// routeTurns are the calls that begin, carry on and end turns.
func (f *front) routeTurns() {
	turn := func(verb, summary string) route {
		return route{
			method: http.MethodPost, path: "/v1/sessions/{id}/" + verb, id: verb + "-session", tag: "sessions", summary: summary,
			effect: writes, bodyNeeded: true, answers: turned{},
		}
	}
	register(f, turn("claim", "Begin a turn under a new lease"),
		func(c *call, body *claimSessionBody) error { return c.turn(body.ToOp(c.id("id"))) })
	register(f, turn("claim_resume", "Take a turn up again that hibernates or waits, under a new lease"),
		func(c *call, body *runnerBody) error { return c.turn(body.resume(c.id("id"))) })
	register(f, turn("recover", "Take over a turn whose lease has expired, under a new one"),
		func(c *call, body *runnerBody) error { return c.turn(body.recover(c.id("id"))) })
	register(f, turn("checkpoint", "Keep a snapshot of the turn that runs, and renew its lease"),
		func(c *call, body *checkpointSessionBody) error { return c.turn(body.ToOp(c.id("id"))) })
	register(f, turn("commit", "End the turn that runs, and its lease"),
		func(c *call, body *endTurnBody) error { return c.turn(body.ToOp(c.id("id"))) })
	register(f, turn("renew", "Give a lease its full ttl again"),
		func(c *call, body *renewSessionBody) error { return c.turn(body.ToOp(c.id("id"))) })
	cancel := turn("cancel", "End whatever a session does: its turn is fenced, its queue emptied, its reviews withdrawn")
	cancel.bodyNeeded, cancel.condition = false, "if_revision"
	register(f, cancel, func(c *call, body *cancelSessionBody) error {
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
	return c.answer(reply{revision: &done.Session.Revision, body: turnedOf(done)})
}

func (c *call) createSession(body *sessionBody) error {
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

func (c *call) putSession(body *sessionBody) error {
	op := body.ToOp(c.id("id"))
	op.IfRevision = c.conditioned(op.IfRevision)
	return c.storeSession(op)
}

func (c *call) forkSession(body *forkSessionBody) error {
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
	a := reply{revision: &done.Session.Revision, body: sessionRowOf(done.Session)}
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
	return c.answer(reply{revision: &found.Revision, body: sessionOf(found)})
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
	return c.answer(reply{body: listOf(found.Items, found.Next, sessionRowOf)})
}
