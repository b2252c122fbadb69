package document

import (
	"dormouse/agent"
	"dormouse/internal/strictjson"
)

var sessionOps = map[string]func() wireOp{
	"put_session":        func() wireOp { return new(putSessionOp) },
	"claim_session":      func() wireOp { return new(claimSessionOp) },
	"resume_session":     func() wireOp { return new(resumeSessionOp) },
	"recover_session":    func() wireOp { return new(recoverSessionOp) },
	"checkpoint_session": func() wireOp { return new(checkpointSessionOp) },
	"commit_session":     func() wireOp { return new(commitSessionOp) },
	"renew_session":      func() wireOp { return new(renewSessionOp) },
	"cancel_session":     func() wireOp { return new(cancelSessionOp) },
	"fork_session":       func() wireOp { return new(forkSessionOp) },
	"delete_session":     func() wireOp { return new(deleteSessionOp) },
	"decide_review":      func() wireOp { return new(decideReviewOp) },
}

type putSessionOp struct {
	opName
	Session string `json:"session"`
	SessionBody
}

func (o *putSessionOp) op() (agent.Op, error) { return o.ToOp(o.Session), nil }

type claimSessionOp struct {
	opName
	Session string `json:"session"`
	ClaimSessionBody
}

func (o *claimSessionOp) op() (agent.Op, error) { return o.ToOp(o.Session) }

type resumeSessionOp struct {
	opName
	Session string `json:"session"`
	RunnerBody
}

func (o *resumeSessionOp) op() (agent.Op, error) { return o.ToResume(o.Session) }

type recoverSessionOp struct {
	opName
	Session string `json:"session"`
	RunnerBody
}

func (o *recoverSessionOp) op() (agent.Op, error) { return o.ToRecover(o.Session) }

type checkpointSessionOp struct {
	opName
	Session string `json:"session"`
	CheckpointSessionBody
}

func (o *checkpointSessionOp) op() (agent.Op, error) { return o.ToOp(o.Session) }

// commitSessionOp is the end of a turn and the session's id.
type commitSessionOp struct {
	opName
	Session string `json:"session"`
	leaseBody
	turnEnd
	Reviews []ReviewDraft `json:"reviews,omitempty" doc:"The reviews that the session waits for"`
}

func (o *commitSessionOp) op() (agent.Op, error) {
	return endTurn(o.Session, &o.leaseBody, &o.turnEnd, o.Reviews)
}

type renewSessionOp struct {
	opName
	Session string `json:"session"`
	RenewSessionBody
}

func (o *renewSessionOp) op() (agent.Op, error) { return o.ToOp(o.Session) }

type cancelSessionOp struct {
	opName
	Session string `json:"session"`
	CancelSessionBody
}

func (o *cancelSessionOp) op() (agent.Op, error) { return o.ToOp(o.Session), nil }

type forkSessionOp struct {
	opName
	Session string `json:"session"`
	ForkSessionBody
}

func (o *forkSessionOp) op() (agent.Op, error) { return o.ToOp(o.Session), nil }

type deleteSessionOp struct {
	opName
	Session       string  `json:"session"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

func (o *deleteSessionOp) op() (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMS)
	return &agent.DeleteSession{Session: o.Session, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}

type decideReviewOp struct {
	opName
	Review string `json:"review"`
	DecideBody
}

func (o *decideReviewOp) op() (agent.Op, error) { return o.ToOp(o.Review), nil }

type (
	getSessionRead struct {
		readName
		Session string `json:"session"`
	}
	listSessionsRead struct {
		rowsRead
		whereRead
		Status      agent.SessionStatus `json:"status,omitempty"`
		OwnerID     string              `json:"owner_id,omitempty"`
		AgentID     string              `json:"agent_id,omitempty"`
		Recoverable bool                `json:"recoverable,omitempty"`
	}
	getReviewRead struct {
		readName
		Review string `json:"review"`
	}
	listReviewsRead struct {
		readName
		Status   agent.ReviewStatus `json:"status,omitempty" doc:"pending if absent; any for one session"`
		Before   int64              `json:"before,omitempty"`
		Assignee string             `json:"assignee,omitempty"`
		Session  string             `json:"session,omitempty"`
		After    strictjson.Text    `json:"after,omitempty"`
		Limit    uint64             `json:"limit,omitempty"`
	}
)

func (r getSessionRead) read() agent.Read { return &agent.GetSession{Session: r.Session} }

func (r listSessionsRead) read() agent.Read {
	return &agent.ListSessions{Page: r.page(), Status: r.Status, Owner: r.OwnerID, Agent: r.AgentID, Recoverable: r.Recoverable, Where: r.where()}
}

func (r getReviewRead) read() agent.Read { return &agent.GetReview{Review: r.Review} }

func (r listReviewsRead) read() agent.Read {
	return &agent.ListReviews{
		Page: agent.Page{After: string(r.After), Limit: r.Limit}, Status: r.Status, Before: r.Before, Assignee: r.Assignee, Session: r.Session,
	}
}
