package rest

import (
	"net/http"

	"github.com/google/uuid"

	"dormouse/agent"
	"dormouse/api/document"
)

// sessionIDs is the namespace of session ids derived from idempotency keys.
var sessionIDs = uuid.MustParse("0f3de8a4-92c6-4d0b-8b1c-3a4b6f2f7a52")

func routeSessions(f *api) {
	const tag, all, one = "sessions", "/v1/sessions", "/v1/sessions/{id}"
	register(f, route{
		method: http.MethodPost, path: all, id: "create-session", tag: tag, summary: "Create a session with a generated id",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.SessionRow{},
	}, createSession)
	register(f, route{
		method: http.MethodPut, path: one, id: "put-session", tag: tag,
		summary: "Create a session, or with a revision overwrite one that has no lease",
		effect:  writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: document.SessionRow{},
	}, putSession)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-session", tag: tag, summary: "Read a session with its requests and snapshots",
		effect: reads, answers: document.Session{},
	}, getSession)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-session", tag: tag, summary: "Delete a session with its lease and its reviews",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, deleteSession)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-sessions", tag: tag,
		summary: "List sessions in id order: all, or by one of status, owner, agent_id and recoverable",
		effect:  reads, query: append([]string{"status", "owner", "agent_id", "recoverable", "metadata"}, rowsQuery...), answers: document.List[document.SessionRow]{},
	}, listSessions)
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-session", tag: tag, summary: "Fork a session that is not running",
		effect: writes, condition: "if_revision", bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.SessionRow{},
	}, forkSession)
	routeTurns(f)
}

// routeTurns adds the calls that begin, continue and end turns.
func routeTurns(f *api) {
	turn := func(verb, summary string) route {
		return route{
			method: http.MethodPost, path: "/v1/sessions/{id}/" + verb, id: verb + "-session", tag: "sessions", summary: summary,
			effect: writes, bodyNeeded: true, answers: document.Turned{},
		}
	}
	register(f, turn("claim", "Begin a turn under a new lease"), turned((*document.ClaimSessionBody).ToOp))
	register(f, turn("claim_resume", "Resume a turn that is hibernated or waiting, under a new lease"), turned((*document.RunnerBody).ToResume))
	register(f, turn("recover", "Take over a turn whose lease has expired, under a new one"), turned((*document.RunnerBody).ToRecover))
	register(f, turn("checkpoint", "Store a snapshot of the running turn, and renew its lease"), turned((*document.CheckpointSessionBody).ToOp))
	register(f, turn("commit", "End the running turn and its lease"), turned((*document.EndTurnBody).ToOp))
	register(f, turn("renew", "Renew a lease for its full ttl"), turned((*document.RenewSessionBody).ToOp))
	cancel := turn("cancel", "Cancel a session: its turn is fenced, its queue emptied, its reviews withdrawn")
	cancel.bodyNeeded, cancel.condition = false, "if_revision"
	register(f, cancel, func(c *request, body *document.CancelSessionBody) error {
		op := body.ToOp(c.id("id"))
		op.IfRevision = c.conditioned(op.IfRevision)
		return answerTurn(c, op)
	})
}

// changeSession commits one op on a session.
func changeSession(c *request, op agent.Op) (*agent.SessionResult, error) {
	result, err := c.commit(op)
	if err != nil {
		return nil, err
	}
	return resultOf[*agent.SessionResult](result, 0)
}

// turned returns the handler that commits the op of a body on the session of the path.
func turned[B any](opOf func(body *B, session string) (agent.Op, error)) func(*request, *B) error {
	return func(c *request, body *B) error {
		op, err := opOf(body, c.id("id"))
		if err != nil {
			return err
		}
		return answerTurn(c, op)
	}
}

// answerTurn commits an op, and answers with the turn and its session.
func answerTurn(c *request, op agent.Op) error {
	done, err := changeSession(c, op)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Session.Revision, body: document.TurnedOf(done)})
}

func createSession(c *request, body *document.SessionBody) error {
	id, err := newID(c, "session_", sessionIDs)
	if err != nil {
		return err
	}
	op := body.ToOp(id)
	if op.IfRevision == nil {
		op.IfRevision = new(uint64) // also in classic mode: the id is new
	}
	return storeSession(c, op)
}

func putSession(c *request, body *document.SessionBody) error {
	op := body.ToOp(c.id("id"))
	op.IfRevision = c.conditioned(op.IfRevision)
	return storeSession(c, op)
}

func forkSession(c *request, body *document.ForkSessionBody) error {
	op := body.ToOp(c.id("id"))
	op.IfRevision = c.conditioned(op.IfRevision)
	return storeSession(c, op)
}

// storeSession commits an op that may create a session.
func storeSession(c *request, op agent.Op) error {
	done, err := changeSession(c, op)
	if err != nil {
		return err
	}
	a := reply{revision: &done.Session.Revision, body: document.SessionRowOf(done.Session)}
	if done.Session.Revision == 1 { // revisions start at 1 in each incarnation
		a.location = location("sessions", done.Session.ID)
	}
	return c.answer(a)
}

func getSession(c *request, _ *none) error {
	found, err := read[*agent.Session](c, &agent.GetSession{Session: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: document.SessionOf(found)})
}

func deleteSession(c *request, _ *none) error {
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

func listSessions(c *request, _ *none) error {
	found, err := read[*agent.SessionList](c, &agent.ListSessions{
		Page:        c.page(),
		Status:      agent.SessionStatus(c.text("status")),
		Owner:       c.text("owner"),
		Agent:       c.text("agent_id"),
		Recoverable: c.flag("recoverable"),
		Where:       c.where(),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.SessionRowOf)})
}
