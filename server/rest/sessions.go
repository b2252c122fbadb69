package rest

import (
	"net/http"

	"github.com/google/uuid"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

// sessionIDs is the namespace of session ids derived from idempotency keys.
var sessionIDs = uuid.MustParse("0f3de8a4-92c6-4d0b-8b1c-3a4b6f2f7a52")

func routeSessions(f *web.API) {
	const tag, all, one = "sessions", "/v1/sessions", "/v1/sessions/{id}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: all, ID: "create-session", Tag: tag, Summary: "Create a session with a generated id",
		Effect: web.Writes, BodyNeeded: true, Status: http.StatusCreated, Creates: true, Answers: document.SessionRow{},
	}, createSession)
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: one, ID: "put-session", Tag: tag,
		Summary: "Create a session, or with a revision overwrite one that has no lease",
		Effect:  web.Writes, Condition: "if_revision", BodyNeeded: true, Creates: true, Answers: document.SessionRow{},
	}, putSession)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-session", Tag: tag, Summary: "Read a session with its requests and snapshots",
		Effect: web.Reads, Answers: document.Session{},
	}, getSession)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "delete-session", Tag: tag, Summary: "Delete a session with its lease and its reviews",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation", "seal_ms"}, Status: http.StatusNoContent,
	}, deleteSession)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all, ID: "list-sessions", Tag: tag,
		Summary: "List sessions in id order: all, or by one of status, owner, agent_id and recoverable",
		Effect:  web.Reads, Query: append([]string{"status", "owner", "agent_id", "recoverable", "metadata"}, web.RowsQuery...), Answers: document.List[document.SessionRow]{},
	}, listSessions)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/fork", ID: "fork-session", Tag: tag, Summary: "Fork a session that is not running",
		Effect: web.Writes, Condition: "if_revision", BodyNeeded: true, Status: http.StatusCreated, Creates: true, Answers: document.SessionRow{},
	}, forkSession)
	routeTurns(f)
}

// routeTurns adds the calls that begin, continue and end turns.
func routeTurns(f *web.API) {
	turn := func(verb, summary string) web.Route {
		return web.Route{
			Method: http.MethodPost, Path: "/v1/sessions/{id}/" + verb, ID: verb + "-session", Tag: "sessions", Summary: summary,
			Effect: web.Writes, BodyNeeded: true, Answers: document.Turned{},
		}
	}
	web.Register(f, turn("claim", "Begin a turn under a new lease"), turned((*document.ClaimSessionBody).ToOp))
	web.Register(f, turn("claim_resume", "Resume a turn that is hibernated or waiting, under a new lease"), turned((*document.RunnerBody).ToResume))
	web.Register(f, turn("recover", "Take over a turn whose lease has expired, under a new one"), turned((*document.RunnerBody).ToRecover))
	web.Register(f, turn("checkpoint", "Store a snapshot of the running turn, and renew its lease"), turned((*document.CheckpointSessionBody).ToOp))
	web.Register(f, turn("commit", "End the running turn and its lease"), turned((*document.EndTurnBody).ToOp))
	web.Register(f, turn("renew", "Renew a lease for its full ttl"), turned((*document.RenewSessionBody).ToOp))
	cancel := turn("cancel", "Cancel a session: its turn is fenced, its queue emptied, its reviews withdrawn")
	cancel.BodyNeeded, cancel.Condition = false, "if_revision"
	web.Register(f, cancel, func(c *web.Request, body *document.CancelSessionBody) error {
		op := body.ToOp(c.ID("id"))
		op.IfRevision = c.Conditioned(op.IfRevision)
		return answerTurn(c, op)
	})
}

// changeSession commits one op on a session.
func changeSession(c *web.Request, op agent.Op) (*agent.SessionResult, error) {
	result, err := c.Commit(op)
	if err != nil {
		return nil, err
	}
	return web.ResultOf[*agent.SessionResult](result, 0)
}

// turned returns the handler that commits the op of a body on the session of the path.
func turned[B any](opOf func(body *B, session string) (agent.Op, error)) func(*web.Request, *B) error {
	return func(c *web.Request, body *B) error {
		op, err := opOf(body, c.ID("id"))
		if err != nil {
			return err
		}
		return answerTurn(c, op)
	}
}

// answerTurn commits an op, and answers with the turn and its session.
func answerTurn(c *web.Request, op agent.Op) error {
	done, err := changeSession(c, op)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &done.Session.Revision, Body: document.TurnedOf(done)})
}

func createSession(c *web.Request, body *document.SessionBody) error {
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

func putSession(c *web.Request, body *document.SessionBody) error {
	op := body.ToOp(c.ID("id"))
	op.IfRevision = c.Conditioned(op.IfRevision)
	return storeSession(c, op)
}

func forkSession(c *web.Request, body *document.ForkSessionBody) error {
	op := body.ToOp(c.ID("id"))
	op.IfRevision = c.Conditioned(op.IfRevision)
	return storeSession(c, op)
}

// storeSession commits an op that may create a session.
func storeSession(c *web.Request, op agent.Op) error {
	done, err := changeSession(c, op)
	if err != nil {
		return err
	}
	a := web.Reply{Revision: &done.Session.Revision, Body: document.SessionRowOf(done.Session)}
	if done.Session.Revision == 1 { // revisions start at 1 in each incarnation
		a.Location = web.PathOf("sessions", done.Session.ID)
	}
	return c.Answer(a)
}

func getSession(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Session](c, &agent.GetSession{Session: c.ID("id")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Revision, Body: document.SessionOf(found)})
}

func deleteSession(c *web.Request, _ *web.None) error {
	_, err := c.Commit(&agent.DeleteSession{
		Session:       c.ID("id"),
		IfRevision:    c.Conditioned(c.Optional("if_revision")),
		IfIncarnation: c.Number("if_incarnation"),
		Seal:          c.Duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func listSessions(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.SessionList](c, &agent.ListSessions{
		Page:        c.Page(),
		Status:      agent.SessionStatus(c.Text("status")),
		Owner:       c.Text("owner"),
		Agent:       c.Text("agent_id"),
		Recoverable: c.Flag("recoverable"),
		Where:       c.Where(),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.SessionRowOf)})
}
