package agent

import (
	"errors"
	"fmt"
)

// Code is an error's code, for programs. gRPC and HTTP use the same codes.
type Code string

// The codes. After CodeUnknown, CodeRequestExpired and CodeInternal the outcome of a write is
// not known (see OutcomeOf); after all others it was not applied.
const (
	CodeInvalid             Code = "invalid"               // the request breaks a rule of its form; Field names the field
	CodeUnauthenticated     Code = "unauthenticated"       // the call has no valid credentials
	CodeForbidden           Code = "forbidden"             // the caller lacks the right for the call
	CodeNotFound            Code = "not_found"             // the object does not exist or has expired
	CodeIdempotencyMismatch Code = "idempotency_mismatch"  // another request was sent under the same request id
	CodeRequestExpired      Code = "request_expired"       // the answer of the request is no longer kept, so the cluster cannot tell whether it was applied
	CodeConflict            Code = "conflict"              // a condition does not hold, such as ExpectedRev; Rev and Head are those of the stored thread
	CodeRevRegression       Code = "thread_rev_regression" // the stored thread is longer than the caller's
	CodeDuplicateEntry      Code = "duplicate_entry"       // the thread has an entry with this id and other content; Seq is its seq
	CodeRevisionMismatch    Code = "revision_mismatch"     // IfRevision or IfBytes does not hold; Revision is the stored one
	CodeFenced              Code = "fenced"                // the holding of the claim has ended; Holder and Epoch are the current ones
	CodeAlreadyClaimed      Code = "already_claimed"       // another holder has the claim, until ExpiresAt unless it renews
	CodeMissingThread       Code = "missing_thread"        // the checkpoint points to a thread that does not exist
	CodeThreadMismatch      Code = "thread_mismatch"       // the checkpoint points to a rev or head that its thread does not have
	CodeAlreadyExists       Code = "already_exists"        // the object to create exists
	CodeDeleted             Code = "deleted"               // the incarnation was deleted, or the id is sealed after a delete
	CodeCompacted           Code = "compacted"             // the entries or changes were removed; Floor is the first that is kept
	CodeTooLarge            Code = "too_large"             // the request exceeds a limit, which Limit names
	CodeOverloaded          Code = "overloaded"            // a limit of load or capacity is reached; RetryAfterMS says when to retry, if it is set
	CodeQuotaExceeded       Code = "quota_exceeded"        // the scope's policy does not allow more; retrying does not help
	CodeUnavailable         Code = "unavailable"           // the cluster or node cannot serve the call now; retry
	CodeReadOnly            Code = "read_only"             // the disk of the leader is nearly full
	CodeCorrupt             Code = "corrupt"               // stored data fails its checksum
	CodeInternal            Code = "internal"              // a fault of the node or the client
	CodeUnknown             Code = "unknown"               // the write may have been applied, or may still be; retry under its request id
	CodeThawFailed          Code = "thaw_failed"           // an instance's checkpoint cannot be restored
	CodeHandlerFailed       Code = "handler_failed"        // the handler of a signal failed; the turn was not applied
	CodeMutationInProgress  Code = "mutation_in_progress"  // of a pod; Reason is the running mutation
	CodeMutationFailed      Code = "mutation_failed"       // of a pod: the new topology is stored, but not all nodes match it
	CodeReconcileFailed     Code = "reconcile_failed"      // of a pod: it runs, but not all requested nodes do
	CodeNotOwner            Code = "not_owner"             // between nodes only: Holder owns the instance, as far as the answering node knows
)

// Outcome is what an error says about the outcome of a write.
type Outcome int

const (
	// Done means that the write was applied.
	Done Outcome = iota
	// Refused means that the write was not applied and will not be.
	Refused
	// Undecided means that the outcome is unknown; retry with the same request id.
	Undecided
)

// Error is the error that every Service returns: a code for programs, a message for
// people, and facts about the failure. Only the fields that belong to the code are
// set. Get it with errors.As, or only its code with CodeOf.
type Error struct {
	Code   Code
	Detail string
	Final  bool // decided in the log: it holds for every attempt of the request; other errors are about one attempt only
	Op     int  // index of the failed op of the commit, or read of the request; -1 if the error is about none

	Field        string // invalid: the wrong field
	Limit        string // too_large, quota_exceeded: the name of the limit, such as "entry_bytes_max=1048576"
	Rev          uint64 // conflict, thread_mismatch, …: the stored thread's rev
	Head         string // …and its head, in hex
	Thread       string // missing_thread, thread_mismatch: the pointer's thread
	Revision     uint64 // revision_mismatch: the stored revision; 0 where absent
	Seq          uint64 // duplicate_entry: the seq of the entry with that id
	Incarnation  uint64 // deleted: the incarnation that was deleted or is current
	Floor        uint64 // compacted: the first seq that is still stored
	Epoch        uint64 // fenced, already_claimed: the current epoch of the claim; 0 without a holder
	Holder       string // …and its holder; "" without a holder
	ExpiresAt    int64  // already_claimed, session_lease_active, …: when it expires, Unix ms; approval_expired: when it expired
	RetryAfterMS int64  // overloaded: when to retry
	Reason       string // thaw_failed, handler_failed, not_owner, unavailable: the reason, one word
	State        string // of sessions and reviews: their current status
}

// ReasonUnreachable is the Reason if the owner of an instance could not be reached:
// with CodeUnavailable the call was not handled, and with CodeUnknown it may have been.
const ReasonUnreachable = "unreachable"

// Errorf returns an error of a code that is about no single op. The format is that of fmt.Sprintf.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Op: -1, Detail: fmt.Sprintf(format, args...)}
}

// Invalid returns the error of an invalid request.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Op: -1, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// TooLarge returns the error of a request that exceeds a limit, with the name of the
// limit.
func TooLarge(field, limit string, size, bound int) *Error {
	return &Error{
		Code: CodeTooLarge, Op: -1, Field: field, Limit: fmt.Sprintf("%s=%d", limit, bound),
		Detail: fmt.Sprintf("%s has %d, more than %s = %d", field, size, limit, bound),
	}
}

// Error returns the code and the detail.
func (e *Error) Error() string {
	if e.Detail == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Detail
}

// Is reports whether target is the sentinel of the same code, for errors.Is(err,
// agent.ErrConflict).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Detail == "" && t.Code == e.Code
}

// The errors of common codes, for errors.Is(err, agent.ErrNotFound). They match every error
// of their code. Use CodeOf for the other codes.
var (
	ErrNotFound         = &Error{Code: CodeNotFound, Op: -1}
	ErrConflict         = &Error{Code: CodeConflict, Op: -1}
	ErrRevisionMismatch = &Error{Code: CodeRevisionMismatch, Op: -1}
	ErrFenced           = &Error{Code: CodeFenced, Op: -1}
	ErrAlreadyClaimed   = &Error{Code: CodeAlreadyClaimed, Op: -1}
	ErrMissingThread    = &Error{Code: CodeMissingThread, Op: -1}
	ErrThreadMismatch   = &Error{Code: CodeThreadMismatch, Op: -1}
	ErrDeleted          = &Error{Code: CodeDeleted, Op: -1}
	ErrCompacted        = &Error{Code: CodeCompacted, Op: -1}
	ErrUnavailable      = &Error{Code: CodeUnavailable, Op: -1}
	ErrOverloaded       = &Error{Code: CodeOverloaded, Op: -1}
	ErrUnknown          = &Error{Code: CodeUnknown, Op: -1}
	ErrInvalid          = &Error{Code: CodeInvalid, Op: -1}
	ErrTooLarge         = &Error{Code: CodeTooLarge, Op: -1}
)

// CodeOf returns the code of err: internal if it has none, empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// OutcomeOf returns the outcome of the write that err answers. An error without a code
// is Undecided, because it does not rule out that the write applied.
func OutcomeOf(err error) Outcome {
	switch CodeOf(err) {
	case "":
		return Done
	case CodeUnknown, CodeInternal, CodeRequestExpired:
		return Undecided
	default:
		return Refused
	}
}

// Retryable reports whether err means that the call was not applied and the same call
// may succeed later.
func Retryable(err error) bool {
	switch CodeOf(err) {
	case CodeUnavailable, CodeOverloaded:
		return true
	default:
		return false
	}
}
