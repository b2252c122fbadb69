package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

type leaseDoc struct {
	LeaseID    string `json:"lease_id"`
	OwnerID    string `json:"owner_id"`
	RequestID  string `json:"request_id,omitzero"`
	Epoch      uint64 `json:"epoch"`
	AcquiredAt int64  `json:"acquired_at"`
	ExpiresAt  int64  `json:"expires_at"`
}

func leaseOf(l *agent.Lease) *leaseDoc {
	if l == nil {
		return nil
	}
	return &leaseDoc{
		LeaseID: l.LeaseID, OwnerID: l.Owner, RequestID: l.RequestID, Epoch: l.Epoch, AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
	}
}

type sessionRowDoc struct {
	ID            string              `json:"id"`
	Incarnation   uint64              `json:"incarnation"`
	Revision      uint64              `json:"revision"`
	Mode          agent.SessionMode   `json:"mode"`
	Busy          agent.BusyPolicy    `json:"busy"`
	AgentID       string              `json:"agent_id"`
	Status        agent.SessionStatus `json:"status"`
	RequestID     string              `json:"request_id,omitzero"`
	Lease         *leaseDoc           `json:"lease,omitzero"`
	Recoverable   bool                `json:"recoverable"`
	RequestCount  uint64              `json:"request_count"`
	SnapshotCount uint64              `json:"snapshot_count"`
	QueueLength   uint64              `json:"queue_length"`
	CreatedAt     int64               `json:"created_at"`
	UpdatedAt     int64               `json:"updated_at"`
	ExpiresAt     int64               `json:"expires_at,omitzero"`
}

func sessionRowOf(r agent.SessionRow) sessionRowDoc {
	return sessionRowDoc{
		ID: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, Mode: r.Mode, Busy: r.Busy, AgentID: r.Agent, Status: r.Status,
		RequestID: r.RequestID, Lease: leaseOf(r.Lease), Recoverable: r.Recoverable, RequestCount: r.RequestCount,
		SnapshotCount: r.SnapshotCount, QueueLength: r.QueueLength, ExpiresAt: r.ExpiresAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

type sessionRequestDoc struct {
	ID       string               `json:"id"`
	Input    jsontext.Value       `json:"input,omitzero"`
	Metadata jsontext.Value       `json:"metadata"`
	OwnerID  string               `json:"owner_id,omitzero"`
	At       int64                `json:"at"`
	Outcome  agent.RequestOutcome `json:"outcome,omitzero"`
}

func sessionRequestOf(r agent.SessionRequest) sessionRequestDoc {
	return sessionRequestDoc{
		ID: r.ID, Input: jsontext.Value(r.Input), Metadata: object(r.Metadata), OwnerID: r.Owner, At: r.At, Outcome: r.Outcome,
	}
}

type cursorDoc struct {
	Phase     agent.CursorPhase `json:"phase"`
	LoopIndex uint64            `json:"loop_index,omitzero"`
	Metadata  jsontext.Value    `json:"metadata,omitzero"`
}

type turnPointDoc struct {
	SnapshotID string         `json:"snapshot_id"`
	AgentID    string         `json:"agent_id"`
	RequestID  string         `json:"request_id,omitzero"`
	Cursor     cursorDoc      `json:"cursor"`
	TurnState  jsontext.Value `json:"turn_state"`
	Metadata   jsontext.Value `json:"metadata"`
	At         int64          `json:"at,omitzero"`
}

func turnPointOf(s agent.SessionSnapshot) turnPointDoc {
	return turnPointDoc{
		SnapshotID: s.ID, AgentID: s.Agent, RequestID: s.RequestID, TurnState: object(s.TurnState), Metadata: object(s.Metadata), At: s.At,
		Cursor: cursorDoc{Phase: s.Cursor.Phase, LoopIndex: s.Cursor.LoopIndex, Metadata: jsontext.Value(s.Cursor.Metadata)},
	}
}

func (d *turnPointDoc) snapshot() agent.SessionSnapshot {
	return agent.SessionSnapshot{
		ID: d.SnapshotID, Agent: d.AgentID, RequestID: d.RequestID, TurnState: agent.JSON(d.TurnState), Metadata: agent.JSON(d.Metadata),
		Cursor: agent.Cursor{Phase: d.Cursor.Phase, LoopIndex: d.Cursor.LoopIndex, Metadata: agent.JSON(d.Cursor.Metadata)},
	}
}

func snapshots(docs []turnPointDoc) (out []agent.SessionSnapshot) {
	for i := range docs {
		out = append(out, docs[i].snapshot())
	}
	return out
}

type conversationDoc struct {
	AgentState             jsontext.Value `json:"agent_state,omitzero"`
	ContinuationRevision   uint64         `json:"continuation_revision,omitzero"`
	TurnCount              uint64         `json:"turn_count,omitzero"`
	ContextState           jsontext.Value `json:"context_state,omitzero"`
	LastCompletedRequestID string         `json:"last_completed_request_id,omitzero"`
}

func conversationOf(c agent.Conversation) conversationDoc {
	return conversationDoc{
		AgentState: jsontext.Value(c.AgentState), ContinuationRevision: c.ContinuationRevision, TurnCount: c.TurnCount,
		ContextState: jsontext.Value(c.ContextState), LastCompletedRequestID: c.LastCompletedRequestID,
	}
}

func (d *conversationDoc) conversation() *agent.Conversation {
	if d == nil {
		return nil
	}
	return &agent.Conversation{
		AgentState: agent.JSON(d.AgentState), ContinuationRevision: d.ContinuationRevision, TurnCount: d.TurnCount,
		ContextState: agent.JSON(d.ContextState), LastCompletedRequestID: d.LastCompletedRequestID,
	}
}

type lineageDoc struct {
	SessionID   string `json:"session_id"`
	Incarnation uint64 `json:"incarnation"`
	Revision    uint64 `json:"revision"`
	SnapshotID  string `json:"snapshot_id,omitzero"`
}

type sessionDoc struct {
	sessionRowDoc
	SchemaVersion  uint64              `json:"schema_version"`
	Spec           jsontext.Value      `json:"spec"`
	Metadata       jsontext.Value      `json:"metadata"`
	Environment    jsontext.Value      `json:"environment"`
	Conversation   conversationDoc     `json:"conversation"`
	Lineage        *lineageDoc         `json:"lineage,omitzero"`
	QueueMax       uint64              `json:"queue_max"`
	Thread         string              `json:"thread,omitzero"`
	Checkpoint     string              `json:"checkpoint,omitzero"`
	Result         jsontext.Value      `json:"result,omitzero"`
	Error          jsontext.Value      `json:"error,omitzero"`
	Requests       []sessionRequestDoc `json:"requests"`
	Snapshots      []turnPointDoc      `json:"snapshots"`
	Queue          []sessionRequestDoc `json:"queue"`
	PendingReviews []reviewDoc         `json:"pending_reviews"`
}

func sessionOf(s *agent.Session) sessionDoc {
	doc := sessionDoc{
		sessionRowDoc: sessionRowOf(s.SessionRow), SchemaVersion: s.SchemaVersion, Spec: object(s.Spec), Metadata: object(s.Metadata),
		Environment: object(s.Environment), Conversation: conversationOf(s.Conversation), QueueMax: s.QueueMax, Thread: s.Thread,
		Checkpoint: s.Checkpoint, Result: jsontext.Value(s.Result), Error: jsontext.Value(s.Failure),
		Requests: pageOf(s.Requests, "", sessionRequestOf).Items, Snapshots: pageOf(s.Snapshots, "", turnPointOf).Items,
		Queue: pageOf(s.Queue, "", sessionRequestOf).Items, PendingReviews: pageOf(s.PendingReviews, "", reviewOf).Items,
	}
	if l := s.Lineage; l != nil {
		doc.Lineage = &lineageDoc{SessionID: l.Session, Incarnation: l.Incarnation, Revision: l.Revision, SnapshotID: l.Snapshot}
	}
	return doc
}

type recoveryDoc struct {
	Resume  string `json:"resume,omitzero"`
	Restart string `json:"restart,omitzero"`
}

// turnedDoc answers what begins, carries on or ends a turn.
type turnedDoc struct {
	Session  sessionRowDoc `json:"session"`
	Lease    *leaseDoc     `json:"lease,omitzero"`
	Recovery *recoveryDoc  `json:"recovery,omitzero"`
	Queued   uint64        `json:"queued,omitzero"`
}

func turnedOf(r *agent.SessionResult) turnedDoc {
	doc := turnedDoc{Session: sessionRowOf(r.Session), Lease: leaseOf(r.Session.Lease), Queued: r.Queued}
	if r.Recovery != nil {
		doc.Recovery = &recoveryDoc{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return doc
}

type reviewDoc struct {
	ID          string             `json:"id"`
	SessionID   string             `json:"session_id"`
	Incarnation uint64             `json:"incarnation"`
	RequestID   string             `json:"request_id,omitzero"`
	InterruptID string             `json:"interrupt_id,omitzero"`
	Operation   string             `json:"operation"`
	Arguments   jsontext.Value     `json:"arguments"`
	Reason      string             `json:"reason,omitzero"`
	Metadata    jsontext.Value     `json:"metadata"`
	Assignee    string             `json:"assignee,omitzero"`
	EscalateTo  string             `json:"escalate_to,omitzero"`
	Escalated   bool               `json:"escalated"`
	Status      agent.ReviewStatus `json:"status"`
	CreatedAt   int64              `json:"created_at"`
	ExpiresAt   int64              `json:"expires_at,omitzero"`
	EscalateAt  int64              `json:"escalate_at,omitzero"`
	DecidedBy   string             `json:"decided_by,omitzero"`
	DecidedAt   int64              `json:"decided_at,omitzero"`
	Decided     jsontext.Value     `json:"decided,omitzero"`
	Note        string             `json:"note,omitzero"`
}

func reviewOf(r agent.Review) reviewDoc {
	return reviewDoc{
		ID: r.ID, SessionID: r.Session, Incarnation: r.Incarnation, RequestID: r.RequestID, InterruptID: r.InterruptID,
		Operation: r.Operation, Arguments: object(r.Arguments), Reason: r.Reason, Metadata: object(r.Metadata), Assignee: r.Assignee,
		EscalateTo: r.EscalateTo, Escalated: r.Escalated, Status: r.Status, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
		EscalateAt: r.EscalateAt, DecidedBy: r.DecidedBy, DecidedAt: r.DecidedAt, Decided: jsontext.Value(r.Decided), Note: r.Note,
	}
}
