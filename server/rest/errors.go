package rest

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"dormouse/agent"
)

// The codes that only HTTP has.
const (
	codeMethodNotAllowed agent.Code = "method_not_allowed"
	codeUnsupportedMedia agent.Code = "unsupported_media"
)

// meaning is how a code is answered.
type meaning struct {
	status int
	title  string
	facts  func(*problem, *agent.Error) // copies the fields that the code names; nil where it names none
}

// meanings is the whole table of codes; the contract's, in its order.
var meanings = map[agent.Code]meaning{
	agent.CodeInvalid:             {http.StatusBadRequest, "The request itself is wrong", withField},
	agent.CodeUnauthenticated:     {http.StatusUnauthorized, "Nobody knows who asks", nil},
	agent.CodeForbidden:           {http.StatusForbidden, "This is not allowed", nil},
	agent.CodeNotFound:            {http.StatusNotFound, "There is no such thing", nil},
	agent.CodeIdempotencyMismatch: {http.StatusUnprocessableEntity, "The idempotency key was used for another body", nil},
	agent.CodeRequestExpired:      {http.StatusConflict, "Too old to tell whether it was applied", nil},
	agent.CodeConflict:            {http.StatusConflict, "It is not as the request takes it to be", withRev},
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
	codeMethodNotAllowed:          {http.StatusMethodNotAllowed, "The method is not for this path", nil},
	codeUnsupportedMedia:          {http.StatusUnsupportedMediaType, "The body's type is not for this call", nil},
	agent.CodeTooLarge:            {http.StatusRequestEntityTooLarge, "It is over a limit", withLimit},
	agent.CodeThawFailed:          {http.StatusConflict, "The instance does not wake from what is stored; nothing was started", withReason},
	agent.CodeHandlerFailed:       {http.StatusBadGateway, "The signal's handler failed; nothing of its turn was applied", withReason},
	agent.CodeMutationInProgress:  {http.StatusConflict, "Another mutation of the pod is running", withReason},
	agent.CodeMutationFailed:      {http.StatusConflict, "The new topology is stored, and not all nodes are as it says", withReason},
	agent.CodeReconcileFailed:     {http.StatusConflict, "The pod lives, and not all nodes could be done as asked", withReason},
	agent.CodeNotOwner:            {http.StatusServiceUnavailable, "The instance is moving; nothing was handled", nil},
	agent.CodeOverloaded:          {http.StatusTooManyRequests, "A queue or a quota is full; nothing was applied", withRetry},
	agent.CodeUnavailable:         {http.StatusServiceUnavailable, "The node cannot serve this now; nothing was applied", withReasonThere},
	agent.CodeReadOnly:            {http.StatusServiceUnavailable, "The cluster takes no writes now", nil},
	agent.CodeCorrupt:             {http.StatusInternalServerError, "Stored data fails its checksum", nil},
	agent.CodeInternal:            {http.StatusInternalServerError, "A bug", nil},
	agent.CodeUnknown:             {http.StatusGatewayTimeout, "It may yet apply; retry with the same Idempotency-Key", nil},
}

// problem is an RFC 9457 problem: the one form of all that goes wrong.
type problem struct {
	Type   string     `json:"type" doc:"urn:dormouse:problem: and the code"`
	Title  string     `json:"title"`
	Status int        `json:"status"`
	Detail string     `json:"detail"`
	Code   agent.Code `json:"code" doc:"For programs; the other members depend on it"`

	Op           *int     `json:"op,omitempty" doc:"Of /v1/commits: which op was refused, from 0"`
	Field        string   `json:"field,omitempty" doc:"invalid, too_large: the parameter or member at fault"`
	Limit        string   `json:"limit,omitempty" doc:"too_large: the limit and its value"`
	Rev          *uint64  `json:"rev,omitempty" doc:"conflict and thread codes: the stored thread's rev"`
	Head         *string  `json:"head,omitempty" doc:"conflict and thread codes: the stored thread's head"`
	Thread       *string  `json:"thread,omitempty" doc:"missing_thread, thread_mismatch: the pointer's thread"`
	Revision     *uint64  `json:"revision,omitempty" doc:"revision_mismatch and stale revisions: the stored one, 0 where there is none"`
	Seq          *uint64  `json:"seq,omitempty" doc:"duplicate_entry: where the id stands"`
	Incarnation  *uint64  `json:"incarnation,omitempty" doc:"deleted: the incarnation that is gone or current"`
	Floor        *uint64  `json:"floor,omitempty" doc:"compacted: the first seq that is still there"`
	Epoch        *uint64  `json:"epoch,omitempty" doc:"fenced, already_claimed and codes of leases: the epoch that the claim is held under; 0 where nobody holds it"`
	Holder       *string  `json:"holder,omitzero" nullable:"false" doc:"fenced, already_claimed and codes of leases: who holds the claim, \"\" where nobody does; review_already_decided: who decided"`
	ExpiresAt    *int64   `json:"expires_at,omitempty" doc:"already_claimed and codes of leases: when it lapses, Unix ms; approval_expired: when the review did"`
	State        *string  `json:"state,omitzero" nullable:"false" doc:"Codes of sessions and reviews: the status that it has"`
	Reason       *string  `json:"reason,omitzero" nullable:"false" doc:"thaw_failed, handler_failed: why, in a word; unavailable: not_registered where no process has the Go handler, else absent; mutation_in_progress: the mutation's id; mutation_failed, reconcile_failed: the code of the first failure"`
	Report       anyValue `json:"report,omitzero" doc:"mutation_failed, reconcile_failed: what was done, and the failures node by node"`
	RetryAfterMS *int64   `json:"retry_after_ms,omitempty" doc:"overloaded: when to come back"`
}

func withField(p *problem, e *agent.Error)       { p.Field = wireField(e.Field) }
func withLimit(p *problem, e *agent.Error)       { p.Field, p.Limit = wireField(e.Field), e.Limit }
func withSeq(p *problem, e *agent.Error)         { p.Seq = &e.Seq }
func withRevision(p *problem, e *agent.Error)    { p.Revision = &e.Revision }
func withHolder(p *problem, e *agent.Error)      { p.Epoch, p.Holder = &e.Epoch, &e.Holder }
func withIncarnation(p *problem, e *agent.Error) { p.Incarnation = &e.Incarnation }
func withFloor(p *problem, e *agent.Error)       { p.Floor = &e.Floor }
func withReason(p *problem, e *agent.Error)      { p.Reason = &e.Reason }
func withRetry(p *problem, e *agent.Error)       { p.RetryAfterMS = &e.RetryAfterMS }

func withRevisionThere(p *problem, e *agent.Error) {
	if e.Revision != 0 { // some things that exist have none
		p.Revision = &e.Revision
	}
}

// withReasonThere copies the reason of a code that only sometimes has one.
func withReasonThere(p *problem, e *agent.Error) {
	if e.Reason != "" {
		p.Reason = &e.Reason
	}
}

// withRev speaks of a thread, which always has a head; a conflict may also be
// about the cluster's members.
func withRev(p *problem, e *agent.Error) {
	if e.Head != "" {
		p.Rev, p.Head = &e.Rev, &e.Head
	}
}

func withClaim(p *problem, e *agent.Error) {
	withHolder(p, e)
	p.ExpiresAt = &e.ExpiresAt
}

func withPointer(p *problem, e *agent.Error) {
	withRev(p, e)
	p.Thread = &e.Thread
}

// wireField is a field of the domain by the name that it has here.
func wireField(field string) string {
	field = strings.TrimPrefix(field, "manager.") // a body is the manager
	switch field {
	case "ttl", "seal", "idle_timeout", "signal_ttl", "attach_ttl":
		return field + "_ms"
	case "agent":
		return "agent_id"
	case "new_thread", "new_session":
		return "id"
	case "failure":
		return "error"
	case "snapshot":
		return "snapshot_id"
	case "request.client":
		return "Idempotency-Key"
	}
	if strings.HasPrefix(field, "reviews[") && (strings.HasSuffix(field, "].ttl") || strings.HasSuffix(field, "].escalate_after")) {
		return field + "_ms"
	}
	return field
}

// problemOf makes the problem that err is. What has no code is a bug, and its
// words are not for the caller.
func problemOf(err error) problem {
	var e *agent.Error
	if !errors.As(err, &e) {
		e = agent.Errorf(agent.CodeInternal, "a bug; the node's log has more")
	}
	m, ok := meanings[e.Code]
	if !ok {
		m, ok = sessionMeanings[e.Code]
	}
	if !ok {
		m = meaning{http.StatusInternalServerError, "A code that this node does not know", nil}
	}
	p := problem{
		Type:   "urn:dormouse:problem:" + string(e.Code),
		Title:  m.title,
		Status: m.status,
		Detail: e.Detail,
		Code:   e.Code,
	}
	if p.Detail == "" {
		p.Detail = m.title
	}
	if m.facts != nil {
		m.facts(&p, e)
	}
	var body *bodyError
	if errors.As(err, &body) {
		p.Field = body.err.Field
	}
	return p
}

// bodyError is about a member of a body, which it names as the body does.
type bodyError struct{ err *agent.Error }

func (e *bodyError) Error() string { return e.err.Error() }

func (e *bodyError) Unwrap() error { return e.err }

// methodError is method_not_allowed, with the methods that are.
type methodError struct {
	error
	allow string
}

func (e *methodError) Unwrap() error { return e.error }

// refuse answers err as a problem.
func (f *front) refuse(w *writer, err error) {
	f.refuseOp(w, err, false)
}

// refuseOp answers err as a problem; where the caller numbered its ops, the
// problem says which.
func (f *front) refuseOp(w *writer, err error, numbered bool) {
	p := problemOf(err)
	var e *agent.Error
	if numbered && errors.As(err, &e) && e.Op >= 0 {
		p.Op = &e.Op
	}
	if p.Status == http.StatusInternalServerError {
		f.options.Logger.Error("a request failed", "operation", w.operation, "error", err)
	}
	var method *methodError
	if errors.As(err, &method) {
		w.Header().Set("Allow", method.allow)
	}
	var failed *reportError
	if errors.As(err, &failed) {
		p.Report = anyValue{document(failed.report)}
	}
	if p.RetryAfterMS != nil {
		seconds := max(1, (*p.RetryAfterMS+999)/1000)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	for _, name := range []string{"ETag", "Location", "Content-Security-Policy"} {
		w.Header().Del(name)
	}
	f.writeJSON(w, p.Status, "application/problem+json", p)
}

// overloaded is the refusal of a bound of this front.
func overloaded() error {
	err := agent.Errorf(agent.CodeOverloaded, "this node has as much in hand as it may; come back later")
	err.RetryAfterMS = retryAfterMS
	return err
}
