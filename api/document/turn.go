package document

import "dormouse/agent"

// requestBody is a request for a turn.
type requestBody struct {
	ID       string   `json:"id"`
	Input    AnyValue `json:"input,omitzero"`
	Metadata JSON     `json:"metadata,omitempty"`
}

func (b *requestBody) ToAgent() *agent.SessionRequest {
	if b == nil {
		return nil
	}
	return &agent.SessionRequest{ID: b.ID, Input: agent.JSON(b.Input.JSON), Metadata: agent.JSON(b.Metadata)}
}

// ClaimSessionBody begins a turn.
type ClaimSessionBody struct {
	RunnerBody
	Request              *requestBody `json:"request,omitempty" doc:"The head of the queue if absent"`
	ConversationRevision *uint64      `json:"conversation_revision,omitempty" doc:"Of the conversation that the request was based on"`
}

// ToOp returns the op that the body asks for.
func (b *ClaimSessionBody) ToOp(id string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.ClaimSession{
		Session: id, Owner: b.OwnerID, Request: b.Request.ToAgent(), TTL: ttl, ConversationRevision: b.ConversationRevision,
	}, err
}

// RunnerBody names the runner of a turn.
type RunnerBody struct {
	OwnerID string `json:"owner_id"`
	TTLMS   uint64 `json:"ttl_ms,omitempty" doc:"From 1,000 to 86,400,000; 30,000 if absent"`
}

// ToResume returns the op that resumes a session.
func (b *RunnerBody) ToResume(id string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.ResumeSession{Session: id, Owner: b.OwnerID, TTL: ttl}, err
}

// ToRecover returns the op that recovers a session.
func (b *RunnerBody) ToRecover(id string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.RecoverSession{Session: id, Owner: b.OwnerID, TTL: ttl}, err
}

// leaseBody names the lease of a call. It may be absent: the state machine decides
// whether a lease is needed.
type leaseBody struct {
	LeaseID string `json:"lease_id,omitempty"`
	OwnerID string `json:"owner_id,omitempty"`
}

// CheckpointSessionBody stores a snapshot of the running turn.
type CheckpointSessionBody struct {
	leaseBody
	TTLMS    uint64        `json:"ttl_ms,omitempty" doc:"Of the lease from now on; the current one if absent"`
	Snapshot SnapshotBody  `json:"snapshot"`
	Reviews  []ReviewDraft `json:"reviews,omitempty" doc:"Reviews to request now"`
}

// ToOp returns the op that the body asks for.
func (b *CheckpointSessionBody) ToOp(id string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	if err != nil {
		return nil, err
	}
	reviews, err := DraftedReviews(b.Reviews)
	return &agent.CheckpointSession{
		Session: id, LeaseID: b.LeaseID, Owner: b.OwnerID, TTL: ttl, Snapshot: b.Snapshot.ToAgent(), Reviews: reviews,
	}, err
}

// SnapshotBody is a snapshot in a request.
type SnapshotBody struct {
	SnapshotID string `json:"snapshot_id,omitempty"`
	ID         string `json:"id,omitempty" doc:"Another name for snapshot_id"`
	AgentID    string `json:"agent_id,omitempty" doc:"The session's if absent"`
	RequestID  string `json:"request_id,omitempty" doc:"The request that the turn answers if absent"`
	Cursor     cursor `json:"cursor,omitempty"`
	TurnState  JSON   `json:"turn_state,omitempty"`
	Metadata   JSON   `json:"metadata,omitempty"`
}

// ToAgent returns the snapshot.
func (b *SnapshotBody) ToAgent() agent.SessionSnapshot {
	id := b.SnapshotID
	if id == "" {
		id = b.ID
	}
	return agent.SessionSnapshot{
		ID: id, Agent: b.AgentID, RequestID: b.RequestID,
		Cursor:    agent.Cursor{Phase: b.Cursor.Phase, LoopIndex: b.Cursor.LoopIndex, Metadata: agent.JSON(b.Cursor.Metadata)},
		TurnState: agent.JSON(b.TurnState), Metadata: agent.JSON(b.Metadata),
	}
}

// turnEnd is the result of a turn.
type turnEnd struct {
	Status       agent.SessionStatus `json:"status" doc:"finished, error, cancelled, hibernated or waiting"`
	AgentID      string              `json:"agent_id,omitempty" doc:"The session's if absent"`
	RequestID    string              `json:"request_id,omitempty" doc:"The turn's if absent"`
	Result       AnyValue            `json:"result,omitzero"`
	Error        AnyValue            `json:"error,omitzero"`
	Environment  JSON                `json:"environment,omitempty" doc:"The current one if absent"`
	Conversation *Conversation       `json:"conversation,omitempty" doc:"The current one if absent"`
	Snapshots    []SnapshotBody      `json:"snapshots,omitempty"`
}

// EndTurnBody ends the running turn.
type EndTurnBody struct {
	leaseBody
	Session turnEnd       `json:"session"`
	Reviews []ReviewDraft `json:"reviews,omitempty" doc:"The reviews that the session waits for"`
}

// ToOp returns the op that the body asks for.
func (b *EndTurnBody) ToOp(id string) (agent.Op, error) {
	return endTurn(id, &b.leaseBody, &b.Session, b.Reviews)
}

func endTurn(id string, l *leaseBody, end *turnEnd, drafts []ReviewDraft) (agent.Op, error) {
	reviews, err := DraftedReviews(drafts)
	op := &agent.CommitSession{
		Session: id, LeaseID: l.LeaseID, Owner: l.OwnerID, Agent: end.AgentID, RequestID: end.RequestID, Status: end.Status,
		Result: agent.JSON(end.Result.JSON), Failure: agent.JSON(end.Error.JSON), Environment: agent.JSON(end.Environment),
		Conversation: end.Conversation.ToAgent(), Reviews: reviews,
	}
	for i := range end.Snapshots {
		op.Snapshots = append(op.Snapshots, end.Snapshots[i].ToAgent())
	}
	return op, err
}

// RenewSessionBody restarts the full ttl of a lease.
type RenewSessionBody struct {
	leaseBody
	TTLMS uint64 `json:"ttl_ms,omitempty" doc:"The current one if absent"`
}

// ToOp returns the op that the body asks for.
func (b *RenewSessionBody) ToOp(id string) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", b.TTLMS)
	return &agent.RenewSession{Session: id, LeaseID: b.LeaseID, Owner: b.OwnerID, TTL: ttl}, err
}

// CancelSessionBody cancels a session.
type CancelSessionBody struct {
	leaseBody
	Reason     AnyValue `json:"reason,omitzero" doc:"Stored as the session's error"`
	IfRevision *uint64  `json:"if_revision,omitempty" doc:"Apply only at this revision"`
}

// ToOp returns the op that the body asks for.
func (b *CancelSessionBody) ToOp(id string) *agent.CancelSession {
	return &agent.CancelSession{
		Session: id, LeaseID: b.LeaseID, Owner: b.OwnerID, Reason: agent.JSON(b.Reason.JSON), IfRevision: b.IfRevision,
	}
}

// ForkSessionBody copies a session.
type ForkSessionBody struct {
	ID            string  `json:"id" doc:"Of the new session"`
	SnapshotID    string  `json:"snapshot_id,omitempty" doc:"The snapshot to fork at; the newest if absent"`
	IfRevision    *uint64 `json:"if_revision,omitempty" doc:"Apply only at this revision"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

// ToOp returns the op that the body asks for.
func (b *ForkSessionBody) ToOp(id string) *agent.ForkSession {
	return &agent.ForkSession{
		Session: id, NewSession: b.ID, Snapshot: b.SnapshotID, IfRevision: b.IfRevision, IfIncarnation: b.IfIncarnation,
	}
}
