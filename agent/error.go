package agent

import (
	"errors"
	"fmt"
)

// Code names an error for programs. The set is the HTTP contract's: API.md.
type Code string

// The codes. Unknown is the only one after which a write may yet apply.
const (
	CodeInvalid             Code = "invalid"
	CodeUnauthenticated     Code = "unauthenticated"
	CodeForbidden           Code = "forbidden"
	CodeNotFound            Code = "not_found"
	CodeIdempotencyMismatch Code = "idempotency_mismatch"
	CodeRequestExpired      Code = "request_expired"
	CodeConflict            Code = "conflict"
	CodeRevRegression       Code = "thread_rev_regression"
	CodeDuplicateEntry      Code = "duplicate_entry"
	CodeRevisionMismatch    Code = "revision_mismatch"
	CodeFenced              Code = "fenced"
	CodeAlreadyClaimed      Code = "already_claimed"
	CodeMissingThread       Code = "missing_thread"
	CodeThreadMismatch      Code = "thread_mismatch"
	CodeAlreadyExists       Code = "already_exists"
	CodeDeleted             Code = "deleted"
	CodeCompacted           Code = "compacted"
	CodeTooLarge            Code = "too_large"
	CodeOverloaded          Code = "overloaded"
	CodeUnavailable         Code = "unavailable"
	CodeReadOnly            Code = "read_only"
	CodeCorrupt             Code = "corrupt"
	CodeInternal            Code = "internal"
	CodeUnknown             Code = "unknown"
	CodeThawFailed          Code = "thaw_failed"
	CodeHandlerFailed       Code = "handler_failed"       // the turn is surely not applied
	CodeMutationInProgress  Code = "mutation_in_progress" // of a pod; Reason is the mutation that runs
	CodeMutationFailed      Code = "mutation_failed"      // of a pod: the new topology stays, and not all of its nodes are as it says
	CodeReconcileFailed     Code = "reconcile_failed"     // of a pod: it lives, and not all nodes that were asked for do
	CodeNotOwner            Code = "not_owner"            // between nodes only: Holder owns the instance, as far as the answering node knows
)

// Outcome says what an error tells about the write that it answers.
type Outcome int

const (
	// Done says that it applied.
	Done Outcome = iota
	// Refused says that it surely did not apply and will not.
	Refused
	// Undecided says that it may yet apply; retry with the same request id.
	Undecided
)

// Error is what every Service returns: a code for programs, a message for
// people, and the facts a caller needs to go on. Only the fields that the code
// names in API.md are set.
type Error struct {
	Code   Code
	Detail string
	Final  bool // decided in the log, so it settles every attempt of its request; others speak for one attempt alone
	Op     int  // which op of the commit (or read of the request) was refused; -1 where none was

	Field        string // invalid: the field at fault
	Limit        string // too_large: the name of the limit, such as "entry_bytes_max=1048576"
	Rev          uint64 // conflict, thread_mismatch, …: the stored thread's rev
	Head         string // …and its head, in hex
	Thread       string // missing_thread, thread_mismatch: the pointer's thread
	Revision     uint64 // revision_mismatch: the stored revision; 0 where absent
	Seq          uint64 // duplicate_entry: where the id stands
	Incarnation  uint64 // deleted: the incarnation that was deleted or is current
	Floor        uint64 // compacted: the first seq that is still there
	Epoch        uint64 // fenced, already_claimed: the epoch that the claim is held under; 0 where nobody holds it
	Holder       string // …and by whom; "" where nobody holds it
	ExpiresAt    int64  // already_claimed, session_lease_active, …: when it lapses, Unix ms; approval_expired: when it did
	RetryAfterMS int64  // overloaded: when to come back
	Reason       string // thaw_failed, handler_failed, not_owner, unavailable: why, in a word
	State        string // of sessions and reviews: the status that it is in
}

// ReasonUnreachable is the Reason of CodeUnavailable for a call on an instance whose
// owner could not be connected to.
const ReasonUnreachable = "unreachable"

// Errorf makes an error that concerns no op in particular.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Op: -1, Detail: fmt.Sprintf(format, args...)}
}

// Invalid makes the error of a request that is wrong in itself.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Op: -1, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// TooLarge makes the error of a request over a limit, which it names.
func TooLarge(field, limit string, size, bound int) *Error {
	return &Error{
		Code: CodeTooLarge, Op: -1, Field: field, Limit: fmt.Sprintf("%s=%d", limit, bound),
		Detail: fmt.Sprintf("%s has %d, more than %s = %d", field, size, limit, bound),
	}
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Detail
}

// Is makes errors.Is(err, agent.ErrConflict) true of any error with that code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Detail == "" && t.Code == e.Code
}

// Sentinels to compare with by errors.Is; they match on the code alone.
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

// CodeOf is the code of err: internal where it has none, empty for nil.
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

// OutcomeOf tells whether the write that err answers applied. An error without
// a code counts as undecided, since nothing says that it was refused.
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

// Retryable tells whether the same call may succeed unchanged a little later,
// having surely not been applied.
func Retryable(err error) bool {
	switch CodeOf(err) {
	case CodeUnavailable, CodeOverloaded:
		return true
	default:
		return false
	}
}
