package session

import (
	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Put runs put_session.
func Put(c *txn.Tx, op *agent.PutSession) (agent.OpResult, error) {
	s, err := Open(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := validPutSession(op); err != nil {
		return nil, err
	}
	if err := c.CheckWritable(kv.KindSessionTombstone, op.Session, op.IfIncarnation, s.Incarnation()); err != nil {
		return nil, err
	}
	if err := txn.CheckNotErased(c, op.Agent); err != nil {
		return nil, err
	}
	if err := mayPut(op, s); err != nil {
		return nil, err
	}
	body := &logpb.SessionBody{}
	if s == nil {
		s = newSession(c, op.Session)
		s.Row.Mode = orDefaultWord(string(op.Mode), string(agent.SessionModeLease))
	} else if body, err = sessionBody(c.Rows, c.Scope, s.Id); err != nil {
		return nil, err
	}
	if err := fillSession(c, s, op, body); err != nil {
		return nil, err
	}
	if op.IfRevision != nil {
		s.Row.Revision = max(s.Row.Revision, *op.IfRevision)
	}
	return Stored(c, s)
}

// validPutSession repeats the request validation, because an entry may come from another build.
func validPutSession(op *agent.PutSession) error {
	if err := agent.ValidKey("agent_id", op.Agent); err != nil {
		return err
	}
	if err := op.CheckSettings(op.Mode); err != nil {
		return err
	}
	switch op.Status {
	case "", agent.SessionNew, agent.SessionHibernated, agent.SessionFinished, agent.SessionFailed, agent.SessionCancelled:
	default:
		return agent.Invalid("status", "a session is not put as %q", op.Status)
	}
	if op.Request != nil {
		return agent.ValidKey("request.id", op.Request.ID)
	}
	return nil
}

// mayPut checks a put against the stored session; s is nil if there is none.
func mayPut(op *agent.PutSession, s *Session) error {
	classic := op.Mode == agent.SessionModeClassic
	if s == nil {
		if op.IfRevision != nil && *op.IfRevision != 0 {
			return staleRevision(op.Session, *op.IfRevision, 0)
		}
		return policyFits(op, classic)
	}
	classic = s.classic()
	switch {
	case op.IfRevision == nil && !classic, op.IfRevision != nil && *op.IfRevision == 0:
		e := agent.Errorf(agent.CodeAlreadyExists, "session %q exists, at revision %d: name that revision to write over it", s.Id, s.Row.Revision)
		e.Revision = s.Row.Revision
		return e
	case op.Mode != "" && classic != (op.Mode == agent.SessionModeClassic):
		return agent.Invalid("mode", "session %q is in %s mode, which a put does not change", s.Id, s.Row.Mode)
	case s.Row.Lease != nil:
		e := agent.Errorf(agent.CodeSessionLeaseRequired, "session %q is leased to %q: commit under the lease", s.Id, s.Row.Lease.Owner)
		e.Epoch, e.Holder, e.Revision = s.Row.Lease.Epoch, s.Row.Lease.Owner, s.Row.Revision
		return e
	case op.IfRevision != nil && *op.IfRevision < s.Row.Revision:
		return staleRevision(s.Id, *op.IfRevision, s.Row.Revision)
	}
	return policyFits(op, classic)
}

// policyFits refuses settings that the session's mode does not support.
func policyFits(op *agent.PutSession, classic bool) error {
	mode := agent.SessionModeLease
	if classic {
		mode = agent.SessionModeClassic
	}
	if err := agent.ValidSchema(mode, op.SchemaVersion); err != nil {
		return err
	}
	if classic && op.Busy != "" && op.Busy != agent.BusyReject {
		return agent.Invalid("busy", "busy = %q needs leases: do not use classic mode, or set busy to reject", op.Busy)
	}
	if !classic && op.Request != nil {
		return agent.Invalid("request", "a request is put in classic mode only: claim the session with it")
	}
	return nil
}

func staleRevision(id string, given, stored uint64) error {
	e := agent.Errorf(agent.CodeStaleSessionRevision, "session %q is at revision %d, not at %d: read it again", id, stored, given)
	e.Revision = stored
	return e
}

// fillSession applies a put to the session, except for its revision.
func fillSession(c *txn.Tx, s *Session, op *agent.PutSession, body *logpb.SessionBody) error {
	status := op.Status
	if status == "" {
		status = s.status()
	}
	conversation, err := nextConversation(s, op.Conversation, body.Conversation, status)
	if err != nil {
		return err
	}
	row := s.Row
	if row.Agent != "" && row.Agent != op.Agent && c.Level >= txn.NamedLevel {
		row.Named = c.NewIncarnation() // an erasure of the agent that began before leaves it
	}
	settings := op.SettingsWithDefaults(agent.SessionMode(row.Mode))
	row.Agent, row.Settings = op.Agent, ops.SessionSettingsToProto(&settings)
	next := &logpb.SessionBody{
		Spec: command.OrEmptyObject(op.Spec), Metadata: command.OrEmptyObject(op.Metadata), Environment: command.OrEmptyObject(op.Environment),
		Conversation: conversation, Result: op.Result, Failure: op.Failure,
	}
	if op.Request != nil && op.Result == nil {
		next.Result = body.Result
	}
	if err := storeSessionBody(c, s, next); err != nil {
		return err
	}
	if op.Request != nil {
		request := command.EncodeSessionRequest(op.Request)
		request.Owner = ""
		if err := addRequest(c, s, request); err != nil {
			return err
		}
		s.Row.Status = string(agent.SessionRunning)
		return nil
	}
	if op.Status == "" {
		return nil
	}
	return settleReview(c, s, op.Status)
}

// nextConversation checks a conversation against the stored one: only a turn that finishes may
// change it, and only by one step. In classic mode any conversation is accepted.
func nextConversation(
	s *Session, given *agent.Conversation, stored *logpb.Conversation, status agent.SessionStatus,
) (*logpb.Conversation, error) {
	if given == nil {
		if stored == nil {
			stored = command.EncodeConversation(&agent.Conversation{})
			stored.AgentState, stored.ContextState = command.OrEmptyObject(nil), command.OrEmptyObject(nil)
		}
		return stored, nil
	}
	next := command.EncodeConversation(given)
	next.AgentState, next.ContextState = command.OrEmptyObject(next.AgentState), command.OrEmptyObject(next.ContextState)
	now, then := s.Row.ContinuationRevision, given.ContinuationRevision
	if s.classic() || stored == nil || then == now || status == agent.SessionFinished && then == now+1 {
		return next, nil
	}
	expected := now
	if status == agent.SessionFinished {
		expected++
	}
	e := agent.Errorf(agent.CodeInvalidConversation,
		"the conversation of session %q is at continuation revision %d: a session that is %s goes on to %d, not to %d",
		s.Id, now, status, expected, then)
	e.Revision = now
	return nil, e
}

func orDefaultWord(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

// Expire removes the session of an id if it expires at when.
func Expire(c *txn.Tx, id string, when int64) error {
	s, err := LoadStored(c, id)
	if err != nil || s == nil || s.Row.ExpiresAt != when {
		return err
	}
	return clearGone(c, s)
}
