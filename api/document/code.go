package document

import (
	"cmp"
	"net/http"
	"slices"

	"dormouse/agent"
)

// The codes of HTTP only.
const (
	CodeMethodNotAllowed agent.Code = "method_not_allowed"
	CodeUnsupportedMedia agent.Code = "unsupported_media"
)

// meaning is how HTTP answers a code.
type meaning struct {
	status int
	title  string
	facts  func(*Problem, *agent.Error) // copies the members of the code; nil if it has none
}

// meanings holds all codes except those of sessionMeanings.
var meanings = map[agent.Code]meaning{
	agent.CodeInvalid:             {http.StatusBadRequest, "The request itself is wrong", withField},
	agent.CodeUnauthenticated:     {http.StatusUnauthorized, "The credentials are missing or invalid", nil},
	agent.CodeForbidden:           {http.StatusForbidden, "This is not allowed", nil},
	agent.CodeNotFound:            {http.StatusNotFound, "There is no such thing", nil},
	agent.CodeIdempotencyMismatch: {http.StatusUnprocessableEntity, "The idempotency key was used for another body", nil},
	agent.CodeRequestExpired:      {http.StatusConflict, "Too old to tell whether it was applied", nil},
	agent.CodeConflict:            {http.StatusConflict, "The stored state is not as the request expects", withRev},
	agent.CodeRevRegression:       {http.StatusConflict, "The stored thread is longer than the caller's", withRev},
	agent.CodeDuplicateEntry:      {http.StatusConflict, "The entry id is in the thread with other content", withSeq},
	agent.CodeRevisionMismatch:    {http.StatusConflict, "It is at another revision", withRevision},
	agent.CodeFenced:              {http.StatusConflict, "The fence is stale or expired", withHolder},
	agent.CodeAlreadyClaimed:      {http.StatusConflict, "The claim is held by another", withClaim},
	agent.CodeMissingThread:       {http.StatusConflict, "The pointer has no thread", withPointer},
	agent.CodeThreadMismatch:      {http.StatusConflict, "The pointer's thread has another history", withPointer},
	agent.CodeAlreadyExists:       {http.StatusConflict, "It exists already", withRevisionThere},
	agent.CodeDeleted:             {http.StatusGone, "It was deleted since, or is sealed", withIncarnation},
	agent.CodeCompacted:           {http.StatusGone, "It is below the floor", withFloor},
	CodeMethodNotAllowed:          {http.StatusMethodNotAllowed, "The method is not for this path", nil},
	CodeUnsupportedMedia:          {http.StatusUnsupportedMediaType, "The body's type is not for this call", nil},
	agent.CodeTooLarge:            {http.StatusRequestEntityTooLarge, "It is over a limit", withLimit},
	agent.CodeThawFailed:          {http.StatusConflict, "The instance cannot be restored from its checkpoint; nothing was started", withReason},
	agent.CodeHandlerFailed:       {http.StatusBadGateway, "The signal's handler failed; nothing of its turn was applied", withReason},
	agent.CodeMutationInProgress:  {http.StatusConflict, "Another mutation of the pod is running", withReason},
	agent.CodeMutationFailed:      {http.StatusConflict, "The new topology is stored, but not all nodes match it", withReason},
	agent.CodeReconcileFailed:     {http.StatusConflict, "The pod runs, but not all requested nodes do", withReason},
	agent.CodeNotOwner:            {http.StatusServiceUnavailable, "The instance is moving; nothing was handled", nil},
	agent.CodeOverloaded:          {http.StatusTooManyRequests, "A queue or a quota is full; nothing was applied", withRetry},
	agent.CodeQuotaExceeded:       {http.StatusForbidden, "The scope's policy does not allow more; nothing was applied", withLimit},
	agent.CodeUnavailable:         {http.StatusServiceUnavailable, "The node cannot serve this now; nothing was applied", withReasonThere},
	agent.CodeReadOnly:            {http.StatusServiceUnavailable, "The cluster takes no writes now", nil},
	agent.CodeCorrupt:             {http.StatusInternalServerError, "Stored data fails its checksum", nil},
	agent.CodeInternal:            {http.StatusInternalServerError, "A bug", nil},
	agent.CodeUnknown:             {http.StatusGatewayTimeout, "The outcome is unknown; retry with the same Idempotency-Key", nil},
}

// sessionMeanings are the codes of sessions and reviews.
var sessionMeanings = map[agent.Code]meaning{
	agent.CodeSessionAlreadyRunning:     {http.StatusConflict, "A turn of the session runs already", withLease},
	agent.CodeSessionNotResumable:       {http.StatusConflict, "The session is neither hibernated nor waiting", withLease},
	agent.CodeSessionNotRecoverable:     {http.StatusConflict, "The session has no turn to recover", withLease},
	agent.CodeSessionLeaseActive:        {http.StatusConflict, "The session's lease has not expired", withLease},
	agent.CodeSessionLeaseRequired:      {http.StatusConflict, "The session is leased: commit under the lease", withLeasedRevision},
	agent.CodeSessionLeaseExpired:       {http.StatusConflict, "The lease has expired", withLease},
	agent.CodeStaleSessionLease:         {http.StatusConflict, "The lease is not the session's", withLease},
	agent.CodeStaleSessionRevision:      {http.StatusConflict, "The session is at another revision", withRevision},
	agent.CodeStaleConversationRevision: {http.StatusConflict, "The conversation is at another revision", withRevision},
	agent.CodeInvalidConversation:       {http.StatusConflict, "The conversation does not follow from the stored one", withRevision},
	agent.CodeCheckpointMismatch:        {http.StatusConflict, "The snapshot is of another turn", nil},
	agent.CodeCommitMismatch:            {http.StatusConflict, "The commit is of another turn", nil},
	agent.CodeMissingSnapshot:           {http.StatusConflict, "The session has no such snapshot", withState},
	agent.CodeSessionQueueEmpty:         {http.StatusConflict, "The queue is empty", withState},
	agent.CodeUnsupportedSchema:         {http.StatusBadRequest, "The session is of a newer schema", withField},
	agent.CodeReviewDecided:             {http.StatusConflict, "The review has been decided", withDecision},
	agent.CodeApprovalExpired:           {http.StatusConflict, "The review has expired", withDeadline},
	agent.CodeApprovalMismatch:          {http.StatusConflict, "The review is of another interrupt", withState},
}

// Coded is a code with how HTTP answers it.
type Coded struct {
	Code   agent.Code
	Status int
	Title  string
}

// Codes returns all codes, in order of status and code.
func Codes() []Coded {
	var all []Coded
	for _, table := range []map[agent.Code]meaning{meanings, sessionMeanings} {
		for code, m := range table {
			all = append(all, Coded{code, m.status, m.title})
		}
	}
	slices.SortFunc(all, func(a, b Coded) int { return cmp.Or(a.Status-b.Status, cmp.Compare(a.Code, b.Code)) })
	return all
}
