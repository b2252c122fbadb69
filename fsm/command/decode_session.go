package command

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

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

// DecodeReview converts the row of a review.
func DecodeReview(id string, p *logpb.ReviewRow) agent.Review {
	return agent.Review{
		ID: id, Incarnation: p.GetIncarnation(), Session: p.GetSession(), RequestID: p.GetRequest(), InterruptID: p.GetInterrupt(),
		Operation: p.GetOperation(), Arguments: p.GetArguments(), Reason: p.GetReason(), Metadata: p.GetMetadata(),
		Assignee: p.GetAssignee(), EscalateTo: p.GetEscalateTo(), Escalated: p.GetEscalated(),
		Status: agent.ReviewStatus(p.GetStatus()), CreatedAt: p.GetCreatedAt(), ExpiresAt: p.GetExpiresAt(),
		EscalateAt: p.GetEscalateAt(), DecidedBy: p.GetDecidedBy(), DecidedAt: p.GetDecidedAt(),
		Decided: p.GetDecided(), Note: p.GetNote(), Deciders: p.GetDeciders(),
	}
}

// DecodeSessionRow decodes the row of the session of an id. The row has settings.
func DecodeSessionRow(id string, raw []byte) (*logpb.SessionRow, error) {
	row, err := Decode[logpb.SessionRow](raw, "session", id)
	if err == nil && row.Settings == nil {
		row.Settings = &oppb.SessionSettings{} // of an empty message, which a codec may leave out
	}
	return row, err
}
