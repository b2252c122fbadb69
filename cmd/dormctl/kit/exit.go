package kit

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// The exit codes of dormctl. ExitTable describes them.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitUnavailable = 5
	ExitUnknown     = 6
	ExitWarning     = 7
	ExitProblem     = 8
)

// ExitTable describes the exit codes, for help texts.
const ExitTable = `Exit codes:
  0  ok
  1  failed
  2  wrong usage, or an invalid request
  3  not found, or compacted away
  4  conflict: refused because of what is stored (rev, revision, pointer, fence, …)
  5  unavailable: definitely not applied; try again later
  6  unknown: it may have been applied; repeat with the same --request-id
  7  doctor found warnings
  8  doctor found problems
`

// exitError is a failure with an exit code of its own.
type exitError struct {
	code int
	err  error
}

// Exit returns an error that ends the process with code.
func Exit(code int, err error) error { return &exitError{code, err} }

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// ExitCode returns the exit code for err.
func ExitCode(err error) int {
	var usage *cli.UsageError
	var exit *exitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &exit):
		return exit.code
	}
	var commit *CommitError
	if errors.As(err, &commit) && agent.OutcomeOf(err) == agent.Undecided {
		return ExitUnknown // regardless of the code: its outcome is unknown
	}
	switch agent.CodeOf(err) {
	case agent.CodeInvalid, agent.CodeUnsupportedSchema:
		return ExitUsage
	case agent.CodeNotFound, agent.CodeCompacted:
		return ExitNotFound
	case agent.CodeConflict, agent.CodeRevRegression, agent.CodeDuplicateEntry, agent.CodeRevisionMismatch,
		agent.CodeFenced, agent.CodeAlreadyClaimed, agent.CodeMissingThread, agent.CodeThreadMismatch,
		agent.CodeAlreadyExists, agent.CodeDeleted, agent.CodeIdempotencyMismatch,
		agent.CodeSessionAlreadyRunning, agent.CodeSessionNotResumable, agent.CodeSessionNotRecoverable, agent.CodeSessionLeaseActive,
		agent.CodeSessionLeaseRequired, agent.CodeSessionLeaseExpired, agent.CodeStaleSessionLease, agent.CodeStaleSessionRevision,
		agent.CodeStaleConversationRevision, agent.CodeInvalidConversation, agent.CodeCheckpointMismatch, agent.CodeCommitMismatch,
		agent.CodeMissingSnapshot, agent.CodeSessionQueueEmpty, agent.CodeReviewDecided, agent.CodeApprovalExpired, agent.CodeApprovalMismatch,
		agent.CodeThawFailed, agent.CodeMutationInProgress:
		return ExitConflict
	case agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeReadOnly:
		return ExitUnavailable
	case agent.CodeUnknown, agent.CodeRequestExpired:
		return ExitUnknown
	default:
		return ExitFailed
	}
}

// Explain writes err and what to do about it to stderr: as text, or as a document if
// --output asks for JSON or YAML.
func (a *App) Explain(err error) {
	if a.Output == OutputJSON || a.Output == OutputYAML {
		a.explainDocument(err)
		return
	}
	message := err.Error()
	var e *agent.Error
	var exit *exitError // its message is complete
	if errors.As(err, &e) && !errors.As(err, &exit) {
		message += Facts(e)
	}
	a.Tell("dormctl: %s", message)
	if hint := a.hint(err); hint != "" {
		a.Tell("dormctl: %s", hint)
	}
}

// Facts returns the fields of a refusal that its message does not name.
func Facts(e *agent.Error) string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if e.Op > 0 { // a commit of one op needs no number
		add("op %d", e.Op)
	}
	switch e.Code {
	case agent.CodeConflict, agent.CodeRevRegression, agent.CodeThreadMismatch:
		if e.Head != "" { // a conflict of a thread, not of the cluster's membership
			add("stored rev %d", e.Rev)
			add("head %s", e.Head)
		}
	case agent.CodeRevisionMismatch, agent.CodeStaleSessionRevision, agent.CodeStaleConversationRevision, agent.CodeInvalidConversation:
		add("stored revision %d", e.Revision)
	case agent.CodeDuplicateEntry:
		add("stored at seq %d", e.Seq)
	case agent.CodeCompacted:
		add("floor %d", e.Floor)
	case agent.CodeFenced, agent.CodeAlreadyClaimed:
		if e.Holder != "" {
			add("epoch %d", e.Epoch)
			add("holder %q", e.Holder)
		}
	default:
	}
	if e.State != "" && e.Epoch != 0 {
		add("leased to %q", e.Holder)
	}
	if e.State != "" && e.ExpiresAt != 0 && e.Epoch != 0 {
		add("until %s", cli.When(e.ExpiresAt))
	}
	if e.Reason != "" {
		add("reason %s", e.Reason)
	}
	if e.Limit != "" {
		add("limit %s", e.Limit)
	}
	if e.Thread != "" {
		add("thread %q", e.Thread)
	}
	if e.RetryAfterMS > 0 {
		add("retry after %v", time.Duration(e.RetryAfterMS)*time.Millisecond)
	}
	if list == nil {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// hint returns what to do about err, or "".
func (a *App) hint(err error) string {
	var usage *cli.UsageError
	if errors.As(err, &usage) {
		return "see " + a.Command + " --help"
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return ""
	}
	var commit *CommitError
	if errors.As(err, &commit) && agent.OutcomeOf(err) == agent.Undecided {
		again := "to find out, run the same command again with --request-id " + commit.Request.Client
		return "it may or may not have been applied; " + cmp.Or(commit.Settle, again)
	}
	var e *agent.Error
	if errors.As(err, &e) && e.Code == agent.CodeConflict && e.Head == "" {
		return "" // of the cluster's membership: the message says what to do
	}
	switch agent.CodeOf(err) {
	case agent.CodeUnknown, agent.CodeRequestExpired:
		return "the outcome is unknown; check the current state before you repeat it"
	case agent.CodeUnavailable:
		return fmt.Sprintf("nothing was changed; is a majority of the nodes running, and is one of them at %s? (--endpoints, or DORMOUSE_ENDPOINTS)", a.Endpoints)
	case agent.CodeOverloaded:
		return "nothing was changed; try again later"
	case agent.CodeUnauthenticated:
		return "log in with dormctl login, or give a token with --token-file or DORMOUSE_TOKEN"
	case agent.CodeFenced:
		return "the claim has another holder or has expired: take it again, or give up"
	case agent.CodeSessionAlreadyRunning, agent.CodeSessionLeaseActive:
		return "wait until its turn ends or its lease expires; dormctl sessions get shows the lease"
	case agent.CodeStaleSessionLease, agent.CodeSessionLeaseExpired:
		return "this runner has lost the turn: stop it; dormctl sessions recover takes it over once the lease has expired"
	case agent.CodeSessionLeaseRequired:
		return "the session has a running turn: end it with dormctl sessions commit, or cancel the session"
	case agent.CodeAlreadyClaimed:
		return "wait until the claim is released or expires; dormctl claims watch shows when"
	case agent.CodeIdempotencyMismatch:
		return "this --request-id was used for another commit: repeat that one, or leave the flag out"
	case agent.CodeThawFailed:
		return "nothing was started; dormctl agents repair instances/MANAGER/KEY shows its checkpoint and thread, and what can be done"
	case agent.CodeHandlerFailed:
		return "the turn was not applied; the signal may be sent again"
	case agent.CodeTooLarge:
		return splitHint(e)
	case agent.CodeReadOnly:
		return "nothing was changed; free some disk space on the node, or move its data to a larger disk"
	case agent.CodeConflict, agent.CodeRevRegression:
		if commit == nil {
			return ""
		}
		return "another writer was first: load the thread again, and continue from the stored rev"
	case agent.CodeRevisionMismatch, agent.CodeStaleSessionRevision:
		return "another writer was first: read it again, and decide by what is stored now"
	case agent.CodeMissingThread, agent.CodeThreadMismatch:
		if commit != nil {
			return "nothing was stored; append the entries first, and name the rev and head that dormctl threads get shows"
		}
		return "the checkpoint does not match its thread: dormctl agents repair KEY shows both and the choices"
	case agent.CodeDuplicateEntry:
		return "an entry with that id has other content: give the new one another id"
	case agent.CodeDeleted:
		return "it was deleted meanwhile, or is sealed for a time: read it again before you write"
	case agent.CodeCompacted:
		return "the entries before the floor were removed: start from the floor"
	case agent.CodeCorrupt:
		return "stored data fails its checksum on that node: use another node with --endpoints, and replace the damaged one"
	default:
		return ""
	}
}

// splitHint returns what to do about what is too large: nothing, if it is a count or a name, which cannot be split.
func splitHint(e *agent.Error) string {
	if e != nil && e.Limit != "" && (!strings.Contains(e.Limit, "_bytes_max") || strings.Contains(e.Limit, "id_bytes_max")) {
		return ""
	}
	return "split it, or store large contents elsewhere"
}
