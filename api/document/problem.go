package document

import (
	"errors"
	"net/http"
	"strings"

	"dormouse/agent"
)

// Problem is an RFC 9457 problem: the form of all errors.
type Problem struct {
	Type   string     `json:"type" doc:"urn:dormouse:problem: and the code"`
	Title  string     `json:"title"`
	Status int        `json:"status"`
	Detail string     `json:"detail"`
	Code   agent.Code `json:"code" doc:"For programs; the other members depend on it"`

	Op           *int     `json:"op,omitempty" doc:"Of /v1/commits: index of the failed op, from 0"`
	Field        string   `json:"field,omitempty" doc:"invalid, too_large: the wrong parameter or member"`
	Limit        string   `json:"limit,omitempty" doc:"too_large: the limit and its value"`
	Rev          *uint64  `json:"rev,omitempty" doc:"conflict and thread codes: the stored thread's rev"`
	Head         *string  `json:"head,omitempty" doc:"conflict and thread codes: the stored thread's head"`
	Thread       *string  `json:"thread,omitempty" doc:"missing_thread, thread_mismatch: the pointer's thread"`
	Revision     *uint64  `json:"revision,omitempty" doc:"revision_mismatch and stale revisions: the stored one, 0 if there is none"`
	Seq          *uint64  `json:"seq,omitempty" doc:"duplicate_entry: the seq of the entry with that id"`
	Incarnation  *uint64  `json:"incarnation,omitempty" doc:"deleted: the deleted or the current incarnation"`
	Floor        *uint64  `json:"floor,omitempty" doc:"compacted: the first seq that is still stored"`
	Epoch        *uint64  `json:"epoch,omitempty" doc:"fenced, already_claimed and codes of leases: the current epoch of the claim; 0 without a holder"`
	Holder       *string  `json:"holder,omitzero" nullable:"false" doc:"fenced, already_claimed and codes of leases: the holder of the claim, \"\" without one; review_already_decided: who decided"`
	ExpiresAt    *int64   `json:"expires_at,omitempty" doc:"already_claimed and codes of leases: when it expires, Unix ms; approval_expired: when the review expired"`
	State        *string  `json:"state,omitzero" nullable:"false" doc:"Codes of sessions and reviews: the current status"`
	Reason       *string  `json:"reason,omitzero" nullable:"false" doc:"thaw_failed, handler_failed: the reason, one word; unavailable: not_registered if no process has the Go handler, else absent; mutation_in_progress: the mutation's id; mutation_failed, reconcile_failed: the code of the first failure"`
	Report       AnyValue `json:"report,omitzero" doc:"mutation_failed, reconcile_failed: what was done, and the failures of each node"`
	RetryAfterMS *int64   `json:"retry_after_ms,omitempty" doc:"overloaded: when to retry"`
}

func withField(p *Problem, e *agent.Error)       { p.Field = wireField(e.Field) }
func withLimit(p *Problem, e *agent.Error)       { p.Field, p.Limit = wireField(e.Field), e.Limit }
func withSeq(p *Problem, e *agent.Error)         { p.Seq = &e.Seq }
func withRevision(p *Problem, e *agent.Error)    { p.Revision = &e.Revision }
func withHolder(p *Problem, e *agent.Error)      { p.Epoch, p.Holder = &e.Epoch, &e.Holder }
func withIncarnation(p *Problem, e *agent.Error) { p.Incarnation = &e.Incarnation }
func withFloor(p *Problem, e *agent.Error)       { p.Floor = &e.Floor }
func withReason(p *Problem, e *agent.Error)      { p.Reason = &e.Reason }

// retryAfterMS is when to retry after an error that does not say it, such as one of a handler.
const retryAfterMS = 1000

func withRetry(p *Problem, e *agent.Error) {
	after := e.RetryAfterMS
	if after <= 0 {
		after = retryAfterMS
	}
	p.RetryAfterMS = &after
}

func withRevisionThere(p *Problem, e *agent.Error) {
	if e.Revision != 0 { // some objects have no revision
		p.Revision = &e.Revision
	}
}

// withReasonThere copies the reason of a code that does not always have one.
func withReasonThere(p *Problem, e *agent.Error) {
	if e.Reason != "" {
		p.Reason = &e.Reason
	}
}

// withRev copies a thread's rev and head. A conflict that is not about a thread has no
// head.
func withRev(p *Problem, e *agent.Error) {
	if e.Head != "" {
		p.Rev, p.Head = &e.Rev, &e.Head
	}
}

func withClaim(p *Problem, e *agent.Error) {
	withHolder(p, e)
	p.ExpiresAt = &e.ExpiresAt
}

func withPointer(p *Problem, e *agent.Error) {
	withRev(p, e)
	p.Thread = &e.Thread
}

// wireField returns the HTTP name of a field of package agent.
func wireField(field string) string {
	field = strings.TrimPrefix(field, "manager.") // the body is the manager
	switch field {
	case "ttl", "seal", "idle_timeout", "signal_ttl", "attach_ttl":
		return field + "_ms"
	case "agent":
		return "agent_id"
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

// Errors quote what a request holds, which may be much longer than an answer should be.
const (
	detailBytesMax = 4 << 10
	fieldBytesMax  = 256
)

// shortened returns a text without what is beyond bytesMax.
func shortened(text string, bytesMax int) string {
	if len(text) <= bytesMax {
		return text
	}
	return strings.ToValidUTF8(text[:bytesMax], "") + "…"
}

// ProblemOf returns the problem of err. An error without a code is a bug, whose text
// is not shown to callers.
func ProblemOf(err error) Problem {
	var e *agent.Error
	if !errors.As(err, &e) {
		e = agent.Errorf(agent.CodeInternal, "internal error: see the log of the node")
	}
	m, ok := meanings[e.Code]
	if !ok {
		m, ok = sessionMeanings[e.Code]
	}
	if !ok {
		m = meaning{http.StatusInternalServerError, "A code that this node does not know", nil}
	}
	p := Problem{
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
	p.Detail, p.Field = shortened(p.Detail, detailBytesMax), shortened(p.Field, fieldBytesMax)
	return p
}

func withState(p *Problem, e *agent.Error) { p.State = &e.State }

// withLease copies the session's lease, if it has one.
func withLease(p *Problem, e *agent.Error) {
	withClaim(p, e)
	withState(p, e)
}

func withLeasedRevision(p *Problem, e *agent.Error) {
	withHolder(p, e)
	withRevision(p, e)
}

// withDecision copies who decided; empty if the review was withdrawn.
func withDecision(p *Problem, e *agent.Error) {
	withState(p, e)
	p.Holder = &e.Holder
}

func withDeadline(p *Problem, e *agent.Error) {
	withState(p, e)
	p.ExpiresAt = &e.ExpiresAt
}
