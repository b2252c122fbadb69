package rest

import (
	"net/http"

	"dormouse/agent"
)

// sessionMeanings are the codes of sessions and reviews.
var sessionMeanings = map[agent.Code]meaning{
	agent.CodeSessionAlreadyRunning:     {http.StatusConflict, "A turn of the session runs already", withLease},
	agent.CodeSessionNotResumable:       {http.StatusConflict, "The session neither hibernates nor waits", withLease},
	agent.CodeSessionNotRecoverable:     {http.StatusConflict, "No turn of the session is to be recovered", withLease},
	agent.CodeSessionLeaseActive:        {http.StatusConflict, "The session's lease has not expired", withLease},
	agent.CodeSessionLeaseRequired:      {http.StatusConflict, "The session is leased: commit under the lease", withLeasedRevision},
	agent.CodeSessionLeaseExpired:       {http.StatusConflict, "The lease has expired", withLease},
	agent.CodeStaleSessionLease:         {http.StatusConflict, "The lease is not the session's", withLease},
	agent.CodeStaleSessionRevision:      {http.StatusConflict, "The session is at another revision", withRevision},
	agent.CodeStaleConversationRevision: {http.StatusConflict, "The conversation has gone on", withRevision},
	agent.CodeInvalidConversation:       {http.StatusConflict, "The conversation does not follow from the stored one", withRevision},
	agent.CodeCheckpointMismatch:        {http.StatusConflict, "The snapshot is of another turn", nil},
	agent.CodeCommitMismatch:            {http.StatusConflict, "The commit is of another turn", nil},
	agent.CodeMissingSnapshot:           {http.StatusConflict, "The session has no such snapshot", withState},
	agent.CodeSessionQueueEmpty:         {http.StatusConflict, "No request waits", withState},
	agent.CodeUnsupportedSchema:         {http.StatusBadRequest, "The session is of a newer schema", withField},
	agent.CodeReviewDecided:             {http.StatusConflict, "The review has been decided", withDecision},
	agent.CodeApprovalExpired:           {http.StatusConflict, "The review has expired", withDeadline},
	agent.CodeApprovalMismatch:          {http.StatusConflict, "The review is of another interrupt", withState},
}

func withState(p *problem, e *agent.Error) { p.State = &e.State }

// withLease tells of the lease that the session has, if it has one.
func withLease(p *problem, e *agent.Error) {
	withClaim(p, e)
	withState(p, e)
}

func withLeasedRevision(p *problem, e *agent.Error) {
	withHolder(p, e)
	withRevision(p, e)
}

// withDecision tells who decided; nobody where the review was withdrawn.
func withDecision(p *problem, e *agent.Error) {
	withState(p, e)
	p.Holder = &e.Holder
}

func withDeadline(p *problem, e *agent.Error) {
	withState(p, e)
	p.ExpiresAt = &e.ExpiresAt
}
