package command

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

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
