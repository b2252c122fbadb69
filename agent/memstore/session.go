package memstore

import (
	"maps"
	"slices"
	"time"

	"dormouse/agent"
)

// SessionModel is a simple model of sessions and reviews, for services in memory and
// to compare the state machine with. It knows no rows and no limits. Its host has the
// time, the claims and the threads.
type SessionModel struct {
	Sessions map[string]ModelSession
	Reviews  map[string]agent.Review

	// ExpiresLate makes a review that expires decided at the time of the commit that
	// records it, as before feature level 8, and not at its deadline.
	ExpiresLate bool

	// AsksOnce makes a review that was withdrawn stay so when it is asked again, as before
	// feature level 9.
	AsksOnce bool
}

// ModelSession is a session with its hidden state. It is immutable: a change replaces
// it.
type ModelSession struct {
	agent.Session
	TTL     time.Duration // of its lease
	failure agent.JSON
	request int      // index in Requests of the turn's request
	turns   []int    // of each snapshot: index in Requests of its request
	asked   []string // ids of reviews, in order
	begun   *modelTurn
}

// modelTurn is the state that a rollback restores.
type modelTurn struct {
	snapshots []agent.SessionSnapshot
	turns     []int
	asked     int
	mark      any
}

// SessionHost is what the model needs from its scope.
type SessionHost interface {
	Now() int64                                                // Unix ms, the time of the commit
	Principal() string                                         // who made the commit; "" if that is not known
	Born() uint64                                              // returns the incarnation of a new session
	Enter(session string, wanted, current uint64) *agent.Error // refuses a sealed id, or another incarnation
	Seal(session string, incarnation uint64, seal time.Duration)
	Hold(claim, holder string, ttl time.Duration) (epoch uint64)               // begins a holding
	Arm(claim string, ttl time.Duration)                                       // restarts the ttl of the holding
	Ends(claim string) int64                                                   // returns when the holding ends; 0 without a holder
	Release(claim string)                                                      // ends the holding, if there is one
	Note(thread string, d agent.Draft)                                         // appends to a thread
	Mark(s agent.Session) (mark any)                                           // records the state of the session's checkpoint and thread
	PutBack(s agent.Session, mark any) (disowned *agent.Draft, e *agent.Error) // restores the checkpoint
}

// NewSessionModel returns a model without sessions.
func NewSessionModel() SessionModel {
	return SessionModel{Sessions: map[string]ModelSession{}, Reviews: map[string]agent.Review{}}
}

// Clone returns a copy, so that a refused commit leaves the model unchanged.
func (m SessionModel) Clone() SessionModel {
	return SessionModel{Sessions: maps.Clone(m.Sessions), Reviews: maps.Clone(m.Reviews), ExpiresLate: m.ExpiresLate, AsksOnce: m.AsksOnce}
}

func refuse(code agent.Code, s ModelSession) *agent.Error {
	e := agent.Errorf(code, "session %q is %s", s.ID, s.Status)
	if s.Status == "" {
		e.Detail = "there is no such session"
	}
	e.State, e.Revision = string(s.Status), s.Revision
	if s.Lease != nil {
		e.Holder, e.Epoch = s.Lease.Owner, s.Lease.Epoch
	}
	return e
}

// store stores the next revision of a session.
func (m SessionModel) store(h SessionHost, s ModelSession) *agent.SessionResult {
	s.Revision++
	s.UpdatedAt = h.Now()
	m.Sessions[s.ID] = s
	return &agent.SessionResult{Session: m.row(h, s)}
}

// Apply applies an op on a session or a review; ok is false for any other op.
func (m SessionModel) Apply(h SessionHost, op agent.Op) (result agent.OpResult, e *agent.Error, ok bool) {
	switch o := op.(type) {
	case *agent.PutSession:
		result, e = m.put(h, o)
	case *agent.ForkSession:
		result, e = m.fork(h, o)
	case *agent.DeleteSession:
		result, e = m.delete(h, o)
	case *agent.DecideReview:
		result, e = m.decide(h, o)
	case *agent.ClaimSession:
		result, e = m.on(h, o.Session, func(s ModelSession) (agent.OpResult, *agent.Error) { return m.claim(h, s, o) })
	case *agent.ResumeSession:
		result, e = m.on(h, o.Session, func(s ModelSession) (agent.OpResult, *agent.Error) { return m.resume(h, s, o) })
	case *agent.RecoverSession:
		result, e = m.on(h, o.Session, func(s ModelSession) (agent.OpResult, *agent.Error) { return m.recover(h, s, o) })
	case *agent.CheckpointSession:
		result, e = m.on(h, o.Session, func(s ModelSession) (agent.OpResult, *agent.Error) { return m.checkpoint(h, s, o) })
	case *agent.CommitSession:
		result, e = m.on(h, o.Session, func(s ModelSession) (agent.OpResult, *agent.Error) { return m.commit(h, s, o) })
	case *agent.RenewSession:
		result, e = m.on(h, o.Session, func(s ModelSession) (agent.OpResult, *agent.Error) { return m.renew(h, s, o) })
	case *agent.CancelSession:
		result, e = m.on(h, o.Session, func(s ModelSession) (agent.OpResult, *agent.Error) { return m.cancel(h, s, o) })
	default:
		return nil, nil, false
	}
	return result, e, true
}

// on calls do with a copy of a session. A refusal that names the session's lease also
// says when the lease expires.
func (m SessionModel) on(h SessionHost, id string, do func(s ModelSession) (agent.OpResult, *agent.Error)) (agent.OpResult, *agent.Error) {
	s, ok := m.Sessions[id]
	if !ok {
		return nil, agent.Errorf(agent.CodeNotFound, "there is no session %q", id)
	}
	s.Requests, s.Snapshots, s.turns, s.asked = slices.Clone(s.Requests), slices.Clone(s.Snapshots), slices.Clone(s.turns), slices.Clone(s.asked)
	result, e := do(s)
	if e != nil && e.Epoch != 0 {
		e.ExpiresAt = h.Ends(agent.SessionClaim(id))
	}
	return result, e
}

func orEmpty(raw agent.JSON) agent.JSON {
	if raw == nil {
		return agent.JSON(`{}`)
	}
	return raw
}

func orElse[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (m SessionModel) put(h SessionHost, o *agent.PutSession) (agent.OpResult, *agent.Error) {
	s, there := m.Sessions[o.Session]
	if e := h.Enter(o.Session, o.IfIncarnation, s.Incarnation); e != nil {
		return nil, e
	}
	classic := o.Mode == agent.SessionModeClassic
	if there {
		classic = s.Mode == agent.SessionModeClassic
	}
	switch {
	case !there && o.IfRevision != nil && *o.IfRevision != 0:
		return nil, refuse(agent.CodeStaleSessionRevision, s)
	case there && (o.IfRevision == nil && !classic || o.IfRevision != nil && *o.IfRevision == 0):
		return nil, refuse(agent.CodeAlreadyExists, s)
	case there && o.Mode != "" && o.Mode != s.Mode:
		return nil, agent.Invalid("mode", "another mode")
	case s.Lease != nil:
		return nil, refuse(agent.CodeSessionLeaseRequired, s)
	case o.IfRevision != nil && *o.IfRevision < s.Revision:
		return nil, refuse(agent.CodeStaleSessionRevision, s)
	case classic && o.SchemaVersion > agent.SessionSchemaClassic:
		return nil, refuse(agent.CodeUnsupportedSchema, s)
	case classic && orElse(o.Busy, agent.BusyReject) != agent.BusyReject:
		return nil, agent.Invalid("busy", "in classic mode")
	case !classic && o.Request != nil:
		return nil, agent.Invalid("request", "not in classic mode")
	}
	if !there {
		s.ID, s.CreatedAt, s.Status, s.Mode = o.Session, h.Now(), agent.SessionNew, orElse(o.Mode, agent.SessionModeLease)
		s.Incarnation = h.Born()
		s.Conversation = agent.Conversation{AgentState: orEmpty(nil), ContextState: orEmpty(nil)}
	}
	if e := m.converse(&s, o.Conversation, orElse(o.Status, s.Status), there); e != nil {
		return nil, e
	}
	s.Agent, s.SessionSettings = o.Agent, o.SettingsWithDefaults(s.Mode)
	s.Spec, s.Metadata, s.Environment, s.failure = orEmpty(o.Spec), orEmpty(o.Metadata), orEmpty(o.Environment), o.Failure
	if o.Request == nil || o.Result != nil {
		s.Result = o.Result
	}
	switch {
	case o.Request != nil:
		m.ask(h, &s, *o.Request, "")
		s.Status = agent.SessionRunning
	case o.Status != "":
		m.settle(h, &s, o.Status)
	}
	if o.IfRevision != nil {
		s.Revision = max(s.Revision, *o.IfRevision)
	}
	return m.store(h, s), nil
}

func (m SessionModel) converse(s *ModelSession, c *agent.Conversation, status agent.SessionStatus, there bool) *agent.Error {
	if c == nil {
		return nil
	}
	now, then := s.Conversation.ContinuationRevision, c.ContinuationRevision
	if there && s.Mode == agent.SessionModeLease && then != now && (status != agent.SessionFinished || then != now+1) {
		e := refuse(agent.CodeInvalidConversation, *s)
		e.Revision = now
		return e
	}
	s.Conversation = *c
	s.Conversation.AgentState, s.Conversation.ContextState = orEmpty(c.AgentState), orEmpty(c.ContextState)
	return nil
}

// ask makes a request the newest one, which the turn answers.
func (m SessionModel) ask(h SessionHost, s *ModelSession, r agent.SessionRequest, owner string) {
	r.Owner, r.At, r.Outcome = owner, h.Now(), agent.RequestOpen
	s.RequestID, s.request = r.ID, len(s.Requests)
	s.Requests = append(slices.Clone(s.Requests), r)
}

func (s *ModelSession) answer(outcome agent.RequestOutcome) {
	if s.RequestID != "" && outcome != agent.RequestOpen {
		s.Requests[s.request].Outcome = outcome
	}
}

func (s *ModelSession) snapshot(h SessionHost, given agent.SessionSnapshot) {
	given.Agent, given.RequestID, given.At = orElse(given.Agent, s.Agent), orElse(given.RequestID, s.RequestID), h.Now()
	for i := range s.Snapshots {
		if s.Snapshots[i].ID == given.ID {
			s.Snapshots, s.turns = slices.Delete(slices.Clone(s.Snapshots), i, i+1), slices.Delete(slices.Clone(s.turns), i, i+1)
			break
		}
	}
	s.Snapshots, s.turns = append(s.Snapshots, given), append(s.turns, s.request)
}

func paused(status agent.SessionStatus) bool {
	return status == agent.SessionHibernated || status == agent.SessionWaiting
}

func (m SessionModel) settle(h SessionHost, s *ModelSession, status agent.SessionStatus) {
	switch {
	case paused(status) && len(m.pending(*s)) > 0:
		status = agent.SessionWaiting
	case paused(status):
		status = agent.SessionHibernated
	case s.Mode == agent.SessionModeLease || status != agent.SessionFailed:
		m.withdraw(h, *s, 0, nil)
	}
	s.Status = status
}

// Bytes returns the usage of all sessions. It is unknown while a running turn could be
// rolled back, since the data that a rollback restores counts too.
func (m SessionModel) Bytes() (total uint64, known bool) {
	for _, s := range m.Sessions {
		if s.begun != nil {
			return 0, false
		}
		parts := []agent.JSON{s.Spec, s.Metadata, s.Environment, s.Result, s.failure, s.Conversation.AgentState, s.Conversation.ContextState}
		for _, r := range slices.Concat(s.Requests, s.Queue) {
			parts = append(parts, agent.JSON(r.ID), r.Input, r.Metadata, agent.JSON(r.Owner))
		}
		for _, n := range s.Snapshots {
			parts = append(parts, agent.JSON(n.ID+n.Agent+n.RequestID), n.TurnState, n.Metadata, n.Cursor.Metadata)
		}
		for _, id := range s.asked {
			r := m.Reviews[id]
			parts = append(parts, agent.JSON(r.Operation+r.Reason), r.Arguments, r.Metadata)
		}
		for _, part := range parts {
			total += uint64(len(part))
		}
	}
	return total, true
}
