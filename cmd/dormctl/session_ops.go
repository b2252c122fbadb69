package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// sessionName is the member that says which session an op is on.
type sessionName struct {
	Session string `json:"session"`
}

type requestDoc struct {
	ID       string         `json:"id"`
	Input    jsontext.Value `json:"input"`
	Metadata jsontext.Value `json:"metadata"`
}

func (d *requestDoc) request() *agent.SessionRequest {
	if d == nil {
		return nil
	}
	return &agent.SessionRequest{ID: d.ID, Input: agent.JSON(d.Input), Metadata: agent.JSON(d.Metadata)}
}

type putSessionDoc struct {
	opName
	guardDoc
	sessionName
	Mode          agent.SessionMode   `json:"mode"`
	SchemaVersion *uint64             `json:"schema_version"`
	AgentID       string              `json:"agent_id"`
	Spec          jsontext.Value      `json:"spec"`
	Metadata      jsontext.Value      `json:"metadata"`
	Environment   jsontext.Value      `json:"environment"`
	Status        agent.SessionStatus `json:"status"`
	Conversation  *conversationDoc    `json:"conversation"`
	Busy          agent.BusyPolicy    `json:"busy"`
	QueueMax      uint64              `json:"queue_max"`
	Thread        string              `json:"thread"`
	Checkpoint    string              `json:"checkpoint"`
	Result        jsontext.Value      `json:"result"`
	Error         jsontext.Value      `json:"error"`
	Request       *requestDoc         `json:"request"`
	IfRevision    *uint64             `json:"if_revision"`
}

func (d *putSessionDoc) op() (agent.Op, error) {
	var version uint64
	if d.SchemaVersion != nil {
		if version = *d.SchemaVersion; version == 0 {
			return nil, agent.UnsupportedSchema(0, agent.NewestSchema(d.Mode))
		}
	}
	return &agent.PutSession{
		Session: d.Session, Mode: d.Mode, SchemaVersion: version, Agent: d.AgentID, Spec: agent.JSON(d.Spec),
		Metadata: agent.JSON(d.Metadata), Environment: agent.JSON(d.Environment), Status: d.Status,
		Conversation: d.Conversation.conversation(), Busy: d.Busy, QueueMax: d.QueueMax, Thread: d.Thread, Checkpoint: d.Checkpoint,
		Result: agent.JSON(d.Result), Failure: agent.JSON(d.Error), Request: d.Request.request(),
		IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation,
	}, nil
}

// runnerDoc says who is to run a turn.
type runnerDoc struct {
	OwnerID string       `json:"owner_id"`
	TTL     milliseconds `json:"ttl_ms"`
}

type claimSessionDoc struct {
	opName
	sessionName
	runnerDoc
	Request              *requestDoc `json:"request"`
	ConversationRevision *uint64     `json:"conversation_revision"`
}

func (d *claimSessionDoc) op() (agent.Op, error) {
	return &agent.ClaimSession{
		Session: d.Session, Owner: d.OwnerID, Request: d.Request.request(), TTL: d.TTL.span(), ConversationRevision: d.ConversationRevision,
	}, nil
}

type resumeSessionDoc struct {
	opName
	sessionName
	runnerDoc
}

func (d *resumeSessionDoc) op() (agent.Op, error) {
	return &agent.ResumeSession{Session: d.Session, Owner: d.OwnerID, TTL: d.TTL.span()}, nil
}

type recoverSessionDoc struct {
	opName
	sessionName
	runnerDoc
}

func (d *recoverSessionDoc) op() (agent.Op, error) {
	return &agent.RecoverSession{Session: d.Session, Owner: d.OwnerID, TTL: d.TTL.span()}, nil
}

// underDoc names the lease that an op is made under.
type underDoc struct {
	LeaseID string `json:"lease_id"`
	OwnerID string `json:"owner_id"`
}

type checkpointSessionDoc struct {
	opName
	sessionName
	underDoc
	TTL      milliseconds     `json:"ttl_ms"`
	Snapshot turnPointDoc     `json:"snapshot"`
	Reviews  []reviewDraftDoc `json:"reviews"`
}

func (d *checkpointSessionDoc) op() (agent.Op, error) {
	return &agent.CheckpointSession{
		Session: d.Session, LeaseID: d.LeaseID, Owner: d.OwnerID, TTL: d.TTL.span(),
		Snapshot: d.Snapshot.snapshot(), Reviews: reviewDrafts(d.Reviews),
	}, nil
}

type commitSessionDoc struct {
	opName
	sessionName
	underDoc
	AgentID      string              `json:"agent_id"`
	RequestID    string              `json:"request_id"`
	Status       agent.SessionStatus `json:"status"`
	Result       jsontext.Value      `json:"result"`
	Error        jsontext.Value      `json:"error"`
	Environment  jsontext.Value      `json:"environment"`
	Conversation *conversationDoc    `json:"conversation"`
	Snapshots    []turnPointDoc      `json:"snapshots"`
	Reviews      []reviewDraftDoc    `json:"reviews"`
}

func (d *commitSessionDoc) op() (agent.Op, error) {
	return &agent.CommitSession{
		Session: d.Session, LeaseID: d.LeaseID, Owner: d.OwnerID, Agent: d.AgentID, RequestID: d.RequestID, Status: d.Status,
		Result: agent.JSON(d.Result), Failure: agent.JSON(d.Error), Environment: agent.JSON(d.Environment),
		Conversation: d.Conversation.conversation(), Snapshots: snapshots(d.Snapshots), Reviews: reviewDrafts(d.Reviews),
	}, nil
}

type renewSessionDoc struct {
	opName
	sessionName
	underDoc
	TTL milliseconds `json:"ttl_ms"`
}

func (d *renewSessionDoc) op() (agent.Op, error) {
	return &agent.RenewSession{Session: d.Session, LeaseID: d.LeaseID, Owner: d.OwnerID, TTL: d.TTL.span()}, nil
}

type cancelSessionDoc struct {
	opName
	sessionName
	underDoc
	Reason     jsontext.Value `json:"reason"`
	IfRevision *uint64        `json:"if_revision"`
}

func (d *cancelSessionDoc) op() (agent.Op, error) {
	return &agent.CancelSession{
		Session: d.Session, LeaseID: d.LeaseID, Owner: d.OwnerID, Reason: agent.JSON(d.Reason), IfRevision: d.IfRevision,
	}, nil
}

type forkSessionDoc struct {
	opName
	guardDoc
	sessionName
	ID         string  `json:"id"`
	SnapshotID string  `json:"snapshot_id"`
	IfRevision *uint64 `json:"if_revision"`
}

func (d *forkSessionDoc) op() (agent.Op, error) {
	return &agent.ForkSession{
		Session: d.Session, NewSession: d.ID, Snapshot: d.SnapshotID, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation,
	}, nil
}

type deleteSessionDoc struct {
	opName
	guardDoc
	sessionName
	IfRevision *uint64      `json:"if_revision"`
	Seal       milliseconds `json:"seal_ms"`
}

func (d *deleteSessionDoc) op() (agent.Op, error) {
	return &agent.DeleteSession{Session: d.Session, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: d.Seal.span()}, nil
}

// reviewDraftDoc asks for a review.
type reviewDraftDoc struct {
	ID            string          `json:"id"`
	InterruptID   string          `json:"interrupt_id"`
	RequestID     string          `json:"request_id"`
	Operation     string          `json:"operation"`
	Arguments     jsontext.Value  `json:"arguments"`
	Reason        strictjson.Text `json:"reason"`
	Metadata      jsontext.Value  `json:"metadata"`
	Assignee      string          `json:"assignee"`
	EscalateTo    string          `json:"escalate_to"`
	TTL           milliseconds    `json:"ttl_ms"`
	EscalateAfter milliseconds    `json:"escalate_after_ms"`
}

func reviewDrafts(docs []reviewDraftDoc) (out []agent.ReviewDraft) {
	for _, d := range docs {
		out = append(out, agent.ReviewDraft{
			ID: d.ID, InterruptID: d.InterruptID, RequestID: d.RequestID, Operation: d.Operation, Arguments: agent.JSON(d.Arguments),
			Reason: string(d.Reason), Metadata: agent.JSON(d.Metadata), Assignee: d.Assignee, EscalateTo: d.EscalateTo,
			TTL: d.TTL.span(), EscalateAfter: d.EscalateAfter.span(),
		})
	}
	return out
}

type decideReviewDoc struct {
	opName
	Review      string               `json:"review"`
	Decision    agent.ReviewDecision `json:"decision"`
	By          string               `json:"by"`
	Arguments   jsontext.Value       `json:"arguments"`
	Note        strictjson.Text      `json:"note"`
	InterruptID string               `json:"interrupt_id"`
}

func (d *decideReviewDoc) op() (agent.Op, error) {
	return &agent.DecideReview{
		Review: d.Review, Decision: d.Decision, By: d.By, Arguments: agent.JSON(d.Arguments), Note: string(d.Note), InterruptID: d.InterruptID,
	}, nil
}
