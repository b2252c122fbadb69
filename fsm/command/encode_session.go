package command

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

func encodeSessionOp(op agent.Op) (*logpb.Op, error) {
	switch o := op.(type) {
	case *agent.PutSession:
		return &logpb.Op{Op: &logpb.Op_PutSession{PutSession: encodePutSession(o)}}, nil
	case *agent.ClaimSession:
		return &logpb.Op{Op: &logpb.Op_ClaimSession{ClaimSession: &logpb.ClaimSession{
			Session: o.Session, Owner: o.Owner, Request: EncodeSessionRequest(o.Request), TtlMs: Millis(o.TTL),
			ConversationRevision: o.ConversationRevision,
		}}}, nil
	case *agent.ResumeSession:
		return &logpb.Op{Op: &logpb.Op_ResumeSession{ResumeSession: &logpb.ResumeSession{
			Session: o.Session, Owner: o.Owner, TtlMs: Millis(o.TTL),
		}}}, nil
	case *agent.RecoverSession:
		return &logpb.Op{Op: &logpb.Op_RecoverSession{RecoverSession: &logpb.RecoverSession{
			Session: o.Session, Owner: o.Owner, TtlMs: Millis(o.TTL),
		}}}, nil
	case *agent.CheckpointSession:
		return &logpb.Op{Op: &logpb.Op_CheckpointSession{CheckpointSession: &logpb.CheckpointSession{
			Session: o.Session, Lease: o.LeaseID, Owner: o.Owner, TtlMs: Millis(o.TTL),
			Snapshot: EncodeSessionSnapshot(&o.Snapshot), Reviews: encodeReviewDrafts(o.Reviews),
		}}}, nil
	case *agent.CommitSession:
		return &logpb.Op{Op: &logpb.Op_CommitSession{CommitSession: encodeCommitSession(o)}}, nil
	case *agent.RenewSession:
		return &logpb.Op{Op: &logpb.Op_RenewSession{RenewSession: &logpb.RenewSession{
			Session: o.Session, Lease: o.LeaseID, Owner: o.Owner, TtlMs: Millis(o.TTL),
		}}}, nil
	case *agent.CancelSession:
		return &logpb.Op{Op: &logpb.Op_CancelSession{CancelSession: &logpb.CancelSession{
			Session: o.Session, Lease: o.LeaseID, Owner: o.Owner, Reason: o.Reason, IfRevision: o.IfRevision,
		}}}, nil
	case *agent.ForkSession:
		return &logpb.Op{Op: &logpb.Op_ForkSession{ForkSession: &logpb.ForkSession{
			Session: o.Session, NewSession: o.NewSession, Snapshot: o.Snapshot,
			IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}}}, nil
	case *agent.DeleteSession:
		return &logpb.Op{Op: &logpb.Op_DeleteSession{DeleteSession: &logpb.DeleteSession{
			Session: o.Session, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
		}}}, nil
	case *agent.DecideReview:
		return &logpb.Op{Op: &logpb.Op_DecideReview{DecideReview: &logpb.DecideReview{
			Review: o.Review, Decision: string(o.Decision), By: o.By, Arguments: o.Arguments, Note: o.Note,
			Interrupt: o.InterruptID,
		}}}, nil
	case *agent.ForkAgent:
		return &logpb.Op{Op: &logpb.Op_ForkAgent{ForkAgent: encodeForkAgent(o)}}, nil
	case *agent.EraseAgent:
		return &logpb.Op{Op: &logpb.Op_EraseAgent{EraseAgent: encodeEraseAgent(o)}}, nil
	case *agent.SetTTL:
		return &logpb.Op{Op: &logpb.Op_SetTtl{SetTtl: encodeSetTTL(o)}}, nil
	default:
		return encodeConversationOp(op)
	}
}

func encodePutSession(o *agent.PutSession) *logpb.PutSession {
	return &logpb.PutSession{
		Session: o.Session, Mode: string(o.Mode), SchemaVersion: o.SchemaVersion, Agent: o.Agent, Spec: o.Spec,
		Metadata: o.Metadata, Environment: o.Environment, Status: string(o.Status),
		Conversation: EncodeConversation(o.Conversation), Busy: string(o.Busy), QueueMax: o.QueueMax,
		Thread: o.Thread, Checkpoint: o.Checkpoint, Result: o.Result, Failure: o.Failure,
		Request: EncodeSessionRequest(o.Request), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}
}

func encodeCommitSession(o *agent.CommitSession) *logpb.CommitSession {
	p := &logpb.CommitSession{
		Session: o.Session, Lease: o.LeaseID, Owner: o.Owner, Agent: o.Agent, Request: o.RequestID,
		Status: string(o.Status), Result: o.Result, Failure: o.Failure, Environment: o.Environment,
		Conversation: EncodeConversation(o.Conversation), Reviews: encodeReviewDrafts(o.Reviews),
	}
	for i := range o.Snapshots {
		p.Snapshots = append(p.Snapshots, EncodeSessionSnapshot(&o.Snapshots[i]))
	}
	return p
}

// EncodeConversation converts the state of a turn; nil stays nil.
func EncodeConversation(c *agent.Conversation) *logpb.Conversation {
	if c == nil {
		return nil
	}
	return &logpb.Conversation{
		AgentState: c.AgentState, ContinuationRevision: c.ContinuationRevision, TurnCount: c.TurnCount,
		ContextState: c.ContextState, LastCompletedRequest: c.LastCompletedRequestID,
	}
}

// EncodeSessionRequest converts a request; nil stays nil.
func EncodeSessionRequest(r *agent.SessionRequest) *logpb.SessionRequest {
	if r == nil {
		return nil
	}
	return &logpb.SessionRequest{
		Id: r.ID, Input: r.Input, Metadata: r.Metadata, Owner: r.Owner, At: r.At, Outcome: string(r.Outcome),
	}
}

// EncodeSessionSnapshot converts a snapshot of a turn.
func EncodeSessionSnapshot(s *agent.SessionSnapshot) *logpb.SessionSnapshot {
	return &logpb.SessionSnapshot{
		Id: s.ID, Agent: s.Agent, Request: s.RequestID, Phase: string(s.Cursor.Phase), LoopIndex: s.Cursor.LoopIndex,
		CursorMetadata: s.Cursor.Metadata, TurnState: s.TurnState, Metadata: s.Metadata, At: s.At,
	}
}

func encodeReviewDrafts(drafts []agent.ReviewDraft) []*logpb.ReviewDraft {
	var out []*logpb.ReviewDraft
	for i := range drafts {
		d := &drafts[i]
		out = append(out, &logpb.ReviewDraft{
			Id: d.ID, Interrupt: d.InterruptID, Request: d.RequestID, Operation: d.Operation, Arguments: d.Arguments,
			Reason: d.Reason, Metadata: d.Metadata, Assignee: d.Assignee, EscalateTo: d.EscalateTo,
			TtlMs: Millis(d.TTL), EscalateAfterMs: Millis(d.EscalateAfter),
		})
	}
	return out
}

// encodeSessionResult is what a request's row keeps of a session.
func encodeSessionResult(r *agent.SessionResult) *logpb.SessionResult {
	s := &r.Session
	p := &logpb.SessionResult{
		Session: s.ID, Incarnation: s.Incarnation, Revision: s.Revision, Mode: string(s.Mode), Busy: string(s.Busy),
		Agent: s.Agent, Status: string(s.Status), Request: s.RequestID, Recoverable: s.Recoverable,
		Requests: s.RequestCount, Snapshots: s.SnapshotCount, Queue: s.QueueLength,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, ExpiresAt: s.ExpiresAt, Queued: r.Queued,
	}
	if l := s.Lease; l != nil {
		p.Lease = &logpb.SessionLeaseResult{
			Lease: l.LeaseID, Owner: l.Owner, Request: l.RequestID, Epoch: l.Epoch,
			AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
		}
	}
	if r.Recovery != nil {
		p.Recovery = &logpb.SessionRecovery{Resume: r.Recovery.Resume, Restart: r.Recovery.Restart}
	}
	return p
}

func encodeReview(r *agent.Review) *logpb.ReviewRow {
	return &logpb.ReviewRow{
		Incarnation: r.Incarnation, Session: r.Session, Request: r.RequestID, Interrupt: r.InterruptID,
		Operation: r.Operation, Arguments: r.Arguments, Reason: r.Reason, Metadata: r.Metadata, Assignee: r.Assignee,
		EscalateTo: r.EscalateTo, Escalated: r.Escalated, Status: string(r.Status), CreatedAt: r.CreatedAt,
		ExpiresAt: r.ExpiresAt, EscalateAt: r.EscalateAt, DecidedBy: r.DecidedBy, DecidedAt: r.DecidedAt,
		Decided: r.Decided, Note: r.Note,
	}
}
