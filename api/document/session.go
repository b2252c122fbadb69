package document

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// SessionRow is a session without its contents.
type SessionRow struct {
	ID            string              `json:"id"`
	Incarnation   uint64              `json:"incarnation"`
	Revision      uint64              `json:"revision" doc:"Counts the writes, including renewals"`
	Mode          agent.SessionMode   `json:"mode" doc:"lease, or classic: without leases"`
	Busy          agent.BusyPolicy    `json:"busy" doc:"What happens to a claim while a turn runs: reject, enqueue, interrupt, rollback"`
	AgentID       string              `json:"agent_id"`
	Status        agent.SessionStatus `json:"status" doc:"new, running, hibernated, waiting, finished, error, cancelled"`
	RequestID     string              `json:"request_id,omitzero" doc:"Of the running or last turn"`
	Lease         *lease              `json:"lease,omitzero" doc:"Of the running turn; it may have expired"`
	Recoverable   bool                `json:"recoverable" doc:"It is running, and its lease has expired"`
	RequestCount  uint64              `json:"request_count" doc:"Number of requests kept"`
	SnapshotCount uint64              `json:"snapshot_count" doc:"Number of snapshots kept"`
	QueueLength   uint64              `json:"queue_length" doc:"Number of queued claims"`
	CreatedAt     int64               `json:"created_at"`
	UpdatedAt     int64               `json:"updated_at"`
	ExpiresAt     int64               `json:"expires_at,omitzero"`
}

// SessionRowOf returns the document of r.
func SessionRowOf(r agent.SessionRow) SessionRow {
	return SessionRow{
		ID: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, Mode: r.Mode, Busy: r.Busy, AgentID: r.Agent,
		Status: r.Status, RequestID: r.RequestID, Lease: leaseOf(r.Lease), Recoverable: r.Recoverable,
		RequestCount: r.RequestCount, SnapshotCount: r.SnapshotCount, QueueLength: r.QueueLength,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
	}
}

// lease is a runner's right to a session's turn.
type lease struct {
	LeaseID    string `json:"lease_id"`
	OwnerID    string `json:"owner_id"`
	RequestID  string `json:"request_id,omitzero"`
	Epoch      uint64 `json:"epoch" doc:"For Dormouse-Fence, with the claim session:{id}"`
	AcquiredAt int64  `json:"acquired_at"`
	ExpiresAt  int64  `json:"expires_at" doc:"Unless it is renewed; by log time, which stops while there is no leader"`
}

func leaseOf(l *agent.Lease) *lease {
	if l == nil {
		return nil
	}
	return &lease{
		LeaseID: l.LeaseID, OwnerID: l.Owner, RequestID: l.RequestID, Epoch: l.Epoch, AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
	}
}

// Session is a session with its contents.
type Session struct {
	SessionRow
	SchemaVersion  uint64            `json:"schema_version"`
	Spec           JSON              `json:"spec"`
	Metadata       JSON              `json:"metadata"`
	Environment    JSON              `json:"environment"`
	Conversation   Conversation      `json:"conversation"`
	Lineage        *lineage          `json:"lineage,omitzero" doc:"Of a fork: its source"`
	QueueMax       uint64            `json:"queue_max"`
	Thread         string            `json:"thread,omitzero" doc:"Where decisions and rollbacks are recorded"`
	Checkpoint     string            `json:"checkpoint,omitzero" doc:"The checkpoint that a rollback restores"`
	Result         AnyValue          `json:"result,omitzero" doc:"Of the last finished turn"`
	Error          AnyValue          `json:"error,omitzero" doc:"Why the last turn failed"`
	Requests       []sessionRequest  `json:"requests" nullable:"false" doc:"Oldest first, like the next three"`
	Snapshots      []sessionSnapshot `json:"snapshots" nullable:"false"`
	Queue          []sessionRequest  `json:"queue" nullable:"false"`
	PendingReviews []Review          `json:"pending_reviews" nullable:"false"`
}

// SessionOf returns the document of s.
func SessionOf(s *agent.Session) Session {
	out := Session{
		SessionRow: SessionRowOf(s.SessionRow), SchemaVersion: s.SchemaVersion, Spec: JSON(s.Spec),
		Metadata: JSON(s.Metadata), Environment: JSON(s.Environment), Conversation: conversationOf(&s.Conversation),
		QueueMax: s.QueueMax, Thread: s.Thread, Checkpoint: s.Checkpoint, Result: anyValueOf(s.Result), Error: anyValueOf(s.Failure),
		Requests: rowsOf(s.Requests, sessionRequestOf), Snapshots: rowsOf(s.Snapshots, sessionSnapshotOf),
		Queue: rowsOf(s.Queue, sessionRequestOf), PendingReviews: rowsOf(s.PendingReviews, ReviewOf),
	}
	if l := s.Lineage; l != nil {
		out.Lineage = &lineage{SessionID: l.Session, Incarnation: l.Incarnation, Revision: l.Revision, SnapshotID: l.Snapshot}
	}
	return out
}

// SessionBody is a session in a request.
type SessionBody struct {
	AgentID       string              `json:"agent_id"`
	Mode          agent.SessionMode   `json:"mode,omitempty" doc:"lease, or classic: without leases; lease, or the current one, if absent"`
	SchemaVersion SchemaVersion       `json:"schema_version,omitempty" doc:"1 in classic mode, 1 to 3 in lease mode; the newest if absent"`
	Spec          JSON                `json:"spec,omitempty"`
	Metadata      JSON                `json:"metadata,omitempty"`
	Environment   JSON                `json:"environment,omitempty"`
	Status        agent.SessionStatus `json:"status,omitempty" doc:"new, hibernated, finished, error or cancelled; new, or the current one, if absent"`
	Conversation  *Conversation       `json:"conversation,omitempty"`
	Busy          agent.BusyPolicy    `json:"busy,omitempty" doc:"What happens to a claim while a turn runs: reject, enqueue, interrupt, rollback; reject if absent"`
	QueueMax      uint64              `json:"queue_max,omitempty" doc:"Limit of queued claims; 16 if absent"`
	Thread        string              `json:"thread,omitempty" doc:"Where decisions and rollbacks are recorded"`
	Checkpoint    string              `json:"checkpoint,omitempty" doc:"The checkpoint that a rollback restores"`
	Result        AnyValue            `json:"result,omitzero"`
	Error         AnyValue            `json:"error,omitzero"`
	Request       *requestBody        `json:"request,omitempty" doc:"Classic mode only: it runs from now on"`
	IfRevision    *uint64             `json:"if_revision,omitempty" doc:"Create-only if absent or 0; else the stored revision, or a later one"`
	IfIncarnation uint64              `json:"if_incarnation,omitempty"`
}

// SchemaVersion is the schema version of a session, which is never 0.
type SchemaVersion uint64

// UnmarshalJSONFrom refuses 0, which differs from an absent version.
func (v *SchemaVersion) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	null := dec.PeekKind() == 'n'
	if err := json.UnmarshalDecode(dec, (*uint64)(v)); err != nil {
		return err
	}
	if *v == 0 && !null {
		return agent.UnsupportedSchema(0, agent.SessionSchemaMax)
	}
	return nil
}

// ToOp returns the op that the body asks for.
func (b *SessionBody) ToOp(id string) *agent.PutSession {
	return &agent.PutSession{
		SessionSettings: agent.SessionSettings{
			Busy: b.Busy, QueueMax: b.QueueMax, SchemaVersion: uint64(b.SchemaVersion), Thread: b.Thread, Checkpoint: b.Checkpoint,
		},
		Session: id, Mode: b.Mode, Agent: b.AgentID, Spec: agent.JSON(b.Spec),
		Metadata: agent.JSON(b.Metadata), Environment: agent.JSON(b.Environment), Status: b.Status,
		Conversation: b.Conversation.ToAgent(),
		Result:       agent.JSON(b.Result.JSON), Failure: agent.JSON(b.Error.JSON), Request: b.Request.ToAgent(),
		IfRevision: b.IfRevision, IfIncarnation: b.IfIncarnation,
	}
}

// lineage names the session that a fork was made from.
type lineage struct {
	SessionID   string `json:"session_id"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	SnapshotID  string `json:"snapshot_id,omitzero"`
}

// Conversation is the state that one turn passes to the next, in requests and answers.
type Conversation struct {
	AgentState             JSON   `json:"agent_state,omitzero"`
	ContinuationRevision   uint64 `json:"continuation_revision,omitzero" required:"false" doc:"Grows by one with each turn that continues the conversation"`
	TurnCount              uint64 `json:"turn_count,omitzero" required:"false"`
	ContextState           JSON   `json:"context_state,omitzero"`
	LastCompletedRequestID string `json:"last_completed_request_id,omitzero" required:"false"`
}

// ToAgent returns the conversation of a body; nil for none.
func (b *Conversation) ToAgent() *agent.Conversation {
	if b == nil {
		return nil
	}
	return &agent.Conversation{
		AgentState: agent.JSON(b.AgentState), ContinuationRevision: b.ContinuationRevision, TurnCount: b.TurnCount,
		ContextState: agent.JSON(b.ContextState), LastCompletedRequestID: b.LastCompletedRequestID,
	}
}

func conversationOf(c *agent.Conversation) Conversation {
	return Conversation{
		AgentState: JSON(c.AgentState), ContinuationRevision: c.ContinuationRevision, TurnCount: c.TurnCount,
		ContextState: JSON(c.ContextState), LastCompletedRequestID: c.LastCompletedRequestID,
	}
}

// sessionRequest is a request that a turn answers or answered.
type sessionRequest struct {
	ID       string               `json:"id"`
	Input    AnyValue             `json:"input,omitzero"`
	Metadata JSON                 `json:"metadata"`
	OwnerID  string               `json:"owner_id,omitzero" doc:"Who claimed or queued it"`
	At       int64                `json:"at"`
	Outcome  agent.RequestOutcome `json:"outcome,omitzero" doc:"finished, error, cancelled, interrupted, rolled_back; absent while it is open"`
}

func sessionRequestOf(r agent.SessionRequest) sessionRequest {
	return sessionRequest{
		ID: r.ID, Input: anyValueOf(r.Input), Metadata: JSON(r.Metadata), OwnerID: r.Owner, At: r.At, Outcome: r.Outcome,
	}
}

// sessionSnapshot is a state of a turn from which it can continue.
type sessionSnapshot struct {
	SnapshotID string `json:"snapshot_id"`
	AgentID    string `json:"agent_id"`
	RequestID  string `json:"request_id,omitzero"`
	Cursor     cursor `json:"cursor"`
	TurnState  JSON   `json:"turn_state"`
	Metadata   JSON   `json:"metadata"`
	At         int64  `json:"at"`
}

func sessionSnapshotOf(s agent.SessionSnapshot) sessionSnapshot {
	return sessionSnapshot{
		SnapshotID: s.ID, AgentID: s.Agent, RequestID: s.RequestID, Cursor: cursorOf(s.Cursor),
		TurnState: JSON(s.TurnState), Metadata: JSON(s.Metadata), At: s.At,
	}
}

// cursor is the step of a turn at which a snapshot was taken, in requests and answers.
type cursor struct {
	Phase     agent.CursorPhase `json:"phase,omitzero" required:"false" doc:"start, after_prompt, before_effect, review, wait"`
	LoopIndex uint64            `json:"loop_index,omitzero" required:"false"`
	Metadata  JSON              `json:"metadata,omitzero"`
}

func cursorOf(c agent.Cursor) cursor {
	return cursor{Phase: c.Phase, LoopIndex: c.LoopIndex, Metadata: JSON(c.Metadata)}
}

// Turned is the result of a call that begins, continues or ends a turn.
type Turned struct {
	Session  SessionRow `json:"session"`
	Lease    *lease     `json:"lease,omitzero" doc:"The caller's lease; absent if it has none, for example if the claim is queued"`
	Recovery *recovery  `json:"recovery,omitzero" doc:"Of claim_resume and recover"`
	Queued   uint64     `json:"queued,omitzero" doc:"Of claim: the position in the queue, from 1; absent if the request runs"`
}

// recovery is how a turn continues: either resume or restart is set.
type recovery struct {
	Resume  string `json:"resume,omitzero" doc:"From the snapshot of this id"`
	Restart string `json:"restart,omitzero" doc:"From the beginning, with the request of this id"`
}

// TurnedOf returns the document of r.
func TurnedOf(r *agent.SessionResult) Turned {
	out := Turned{Session: SessionRowOf(r.Session), Lease: leaseOf(r.Session.Lease), Queued: r.Queued}
	if r.Recovery != nil {
		out.Recovery = &recovery{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return out
}
