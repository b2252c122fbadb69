package command

import (
	"fmt"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

func decodeSessionOp(op *logpb.Op) (agent.Op, error) {
	switch p := op.Op.(type) {
	case *logpb.Op_PutSession:
		return decodePutSession(p.PutSession), nil
	case *logpb.Op_ClaimSession:
		o := p.ClaimSession
		return &agent.ClaimSession{
			Session: o.GetSession(), Owner: o.GetOwner(), Request: DecodeSessionRequest(o.GetRequest()), TTL: Duration(o.GetTtlMs()),
			ConversationRevision: o.ConversationRevision,
		}, nil
	case *logpb.Op_ResumeSession:
		o := p.ResumeSession
		return &agent.ResumeSession{Session: o.GetSession(), Owner: o.GetOwner(), TTL: Duration(o.GetTtlMs())}, nil
	case *logpb.Op_RecoverSession:
		o := p.RecoverSession
		return &agent.RecoverSession{Session: o.GetSession(), Owner: o.GetOwner(), TTL: Duration(o.GetTtlMs())}, nil
	case *logpb.Op_CheckpointSession:
		o := p.CheckpointSession
		return &agent.CheckpointSession{
			Session: o.GetSession(), LeaseID: o.GetLease(), Owner: o.GetOwner(), TTL: Duration(o.GetTtlMs()),
			Snapshot: DecodeSessionSnapshot(o.GetSnapshot()), Reviews: decodeReviewDrafts(o.GetReviews()),
		}, nil
	case *logpb.Op_CommitSession:
		return decodeCommitSession(p.CommitSession), nil
	case *logpb.Op_RenewSession:
		o := p.RenewSession
		return &agent.RenewSession{Session: o.GetSession(), LeaseID: o.GetLease(), Owner: o.GetOwner(), TTL: Duration(o.GetTtlMs())}, nil
	case *logpb.Op_CancelSession:
		o := p.CancelSession
		return &agent.CancelSession{
			Session: o.GetSession(), LeaseID: o.GetLease(), Owner: o.GetOwner(), Reason: o.GetReason(), IfRevision: o.IfRevision,
		}, nil
	case *logpb.Op_ForkSession:
		o := p.ForkSession
		return &agent.ForkSession{
			Session: o.GetSession(), NewSession: o.GetNewSession(), Snapshot: o.GetSnapshot(),
			IfRevision: o.IfRevision, IfIncarnation: o.GetIfIncarnation(),
		}, nil
	case *logpb.Op_DeleteSession:
		o := p.DeleteSession
		return &agent.DeleteSession{
			Session: o.GetSession(), IfRevision: o.IfRevision, IfIncarnation: o.GetIfIncarnation(), Seal: Duration(o.GetSealMs()),
		}, nil
	case *logpb.Op_DecideReview:
		o := p.DecideReview
		return &agent.DecideReview{
			Review: o.GetReview(), Decision: agent.ReviewDecision(o.GetDecision()), By: o.GetBy(), Arguments: o.GetArguments(),
			Note: o.GetNote(), InterruptID: o.GetInterrupt(),
		}, nil
	case *logpb.Op_ForkAgent:
		return decodeForkAgent(p.ForkAgent), nil
	case *logpb.Op_EraseAgent:
		return decodeEraseAgent(p.EraseAgent), nil
	case *logpb.Op_SetTtl:
		return decodeSetTTL(p.SetTtl), nil
	default:
		return decodeConversationOp(op)
	}
}

func decodePutSession(o *logpb.PutSession) *agent.PutSession {
	return &agent.PutSession{
		Session: o.Session, Mode: agent.SessionMode(o.Mode), SchemaVersion: o.SchemaVersion, Agent: o.Agent,
		Spec: o.Spec, Metadata: o.Metadata, Environment: o.Environment, Status: agent.SessionStatus(o.Status),
		Conversation: DecodeConversation(o.Conversation), Busy: agent.BusyPolicy(o.Busy), QueueMax: o.QueueMax,
		Thread: o.Thread, Checkpoint: o.Checkpoint, Result: o.Result, Failure: o.Failure,
		Request: DecodeSessionRequest(o.Request), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}
}

func decodeCommitSession(o *logpb.CommitSession) *agent.CommitSession {
	out := &agent.CommitSession{
		Session: o.Session, LeaseID: o.Lease, Owner: o.Owner, Agent: o.Agent, RequestID: o.Request,
		Status: agent.SessionStatus(o.Status), Result: o.Result, Failure: o.Failure, Environment: o.Environment,
		Conversation: DecodeConversation(o.Conversation), Reviews: decodeReviewDrafts(o.Reviews),
	}
	for _, s := range o.Snapshots {
		out.Snapshots = append(out.Snapshots, DecodeSessionSnapshot(s))
	}
	return out
}

// DecodeConversation converts the state of a turn; nil stays nil.
func DecodeConversation(p *logpb.Conversation) *agent.Conversation {
	if p == nil {
		return nil
	}
	return &agent.Conversation{
		AgentState: p.AgentState, ContinuationRevision: p.ContinuationRevision, TurnCount: p.TurnCount,
		ContextState: p.ContextState, LastCompletedRequestID: p.LastCompletedRequest,
	}
}

// DecodeSessionRequest converts a request; nil stays nil.
func DecodeSessionRequest(p *logpb.SessionRequest) *agent.SessionRequest {
	if p == nil {
		return nil
	}
	return &agent.SessionRequest{
		ID: p.Id, Input: p.Input, Metadata: p.Metadata, Owner: p.Owner, At: p.At, Outcome: agent.RequestOutcome(p.Outcome),
	}
}

// DecodeSessionSnapshot converts a snapshot of a turn.
func DecodeSessionSnapshot(p *logpb.SessionSnapshot) agent.SessionSnapshot {
	return agent.SessionSnapshot{
		ID: p.GetId(), Agent: p.GetAgent(), RequestID: p.GetRequest(),
		Cursor:    agent.Cursor{Phase: agent.CursorPhase(p.GetPhase()), LoopIndex: p.GetLoopIndex(), Metadata: p.GetCursorMetadata()},
		TurnState: p.GetTurnState(), Metadata: p.GetMetadata(), At: p.GetAt(),
	}
}

func decodeReviewDrafts(drafts []*logpb.ReviewDraft) []agent.ReviewDraft {
	var out []agent.ReviewDraft
	for _, d := range drafts {
		out = append(out, agent.ReviewDraft{
			ID: d.Id, InterruptID: d.Interrupt, RequestID: d.Request, Operation: d.Operation, Arguments: d.Arguments,
			Reason: d.Reason, Metadata: d.Metadata, Assignee: d.Assignee, EscalateTo: d.EscalateTo,
			TTL: Duration(d.TtlMs), EscalateAfter: Duration(d.EscalateAfterMs),
		})
	}
	return out
}

func decodeSessionResult(p *logpb.SessionResult) *agent.SessionResult {
	r := &agent.SessionResult{
		Session: agent.SessionRow{
			ID: p.Session, Incarnation: p.Incarnation, Revision: p.Revision, Mode: agent.SessionMode(p.Mode),
			Busy: agent.BusyPolicy(p.Busy), Agent: p.Agent, Status: agent.SessionStatus(p.Status), RequestID: p.Request,
			Recoverable: p.Recoverable, RequestCount: p.Requests, SnapshotCount: p.Snapshots, QueueLength: p.Queue,
			CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, ExpiresAt: p.ExpiresAt,
		},
		Queued: p.Queued,
	}
	if l := p.Lease; l != nil {
		r.Session.Lease = &agent.Lease{
			LeaseID: l.Lease, Owner: l.Owner, RequestID: l.Request, Epoch: l.Epoch,
			AcquiredAt: l.AcquiredAt, ExpiresAt: l.ExpiresAt,
		}
	}
	if p.Recovery != nil {
		r.Recovery = &agent.Recovery{Resume: p.Recovery.Resume, Restart: p.Recovery.Restart}
	}
	return r
}

// DecodeReview converts the row of a review.
func DecodeReview(id string, p *logpb.ReviewRow) agent.Review {
	return agent.Review{
		ID: id, Incarnation: p.GetIncarnation(), Session: p.GetSession(), RequestID: p.GetRequest(), InterruptID: p.GetInterrupt(),
		Operation: p.GetOperation(), Arguments: p.GetArguments(), Reason: p.GetReason(), Metadata: p.GetMetadata(),
		Assignee: p.GetAssignee(), EscalateTo: p.GetEscalateTo(), Escalated: p.GetEscalated(),
		Status: agent.ReviewStatus(p.GetStatus()), CreatedAt: p.GetCreatedAt(), ExpiresAt: p.GetExpiresAt(),
		EscalateAt: p.GetEscalateAt(), DecidedBy: p.GetDecidedBy(), DecidedAt: p.GetDecidedAt(),
		Decided: p.GetDecided(), Note: p.GetNote(),
	}
}

// DecodeSessionRow decodes the row of the session of an id.
func DecodeSessionRow(id string, raw []byte) (*logpb.SessionRow, error) {
	row := &logpb.SessionRow{}
	if err := Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode session %q: %w", id, err)
	}
	return row, nil
}
