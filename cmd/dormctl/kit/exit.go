package kit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitUnavailable = 5
	ExitUnknown     = 6
)

const ExitTable = `Exit codes:
  0  ok
  1  failed
  2  wrong usage, or a request that is wrong in itself
  3  not found, or compacted away
  4  conflict: refused because of what is stored (rev, revision, pointer, fence, …)
  5  unavailable: surely not applied; try again later
  6  unknown: may yet apply; repeat with the same --request-id
`

// exitError is a failure whose exit code follows from no store's error.
type exitError struct {
	code int
	err  error
}

// Exit returns an error that ends the process with code.
func Exit(code int, err error) error { return &exitError{code, err} }

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// ExitCode is how err ends the process.
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
		return ExitUnknown // whatever it is called: it may yet apply
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

// Explain writes what went wrong and what to do about it: for people, or as a
// document of JSON or YAML where results are.
func (a *App) Explain(err error) {
	if a.Output == OutputJSON || a.Output == OutputYAML {
		a.explainDocument(err)
		return
	}
	message := err.Error()
	var e *agent.Error
	var exit *exitError // says it all itself
	if errors.As(err, &e) && !errors.As(err, &exit) {
		message += Facts(e)
	}
	a.Tell("dormctl: %s", message)
	if hint := a.hint(err); hint != "" {
		a.Tell("dormctl: %s", hint)
	}
}

// Facts is what a refusal tells besides its message.
func Facts(e *agent.Error) string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if e.Op > 0 { // a commit of one op needs no number
		add("op %d", e.Op)
	}
	switch e.Code {
	case agent.CodeConflict, agent.CodeRevRegression, agent.CodeThreadMismatch:
		if e.Head != "" { // it is of a thread, not of the cluster's members
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
		add("epoch %d", e.Epoch)
		add("holder %q", e.Holder)
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

// hint is what to do about err; empty where the message says it all.
func (a *App) hint(err error) string {
	var usage *cli.UsageError
	if errors.As(err, &usage) {
		return "see --help of the command"
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return ""
	}
	var commit *CommitError
	if errors.As(err, &commit) && agent.OutcomeOf(err) == agent.Undecided {
		return fmt.Sprintf("it may or may not have applied; to settle it, run the same command again with --request-id %s", commit.Request.Client)
	}
	var e *agent.Error
	if errors.As(err, &e) && e.Code == agent.CodeConflict && e.Head == "" {
		return "" // of the cluster's members: the refusal says what to do
	}
	switch agent.CodeOf(err) {
	case agent.CodeUnknown, agent.CodeRequestExpired:
		return "it may or may not have happened; look before you repeat it"
	case agent.CodeUnavailable:
		return fmt.Sprintf("nothing was changed; is a majority of the nodes running, and is one of them at %s? (--endpoints, or DORMOUSE_ENDPOINTS)", a.Endpoints)
	case agent.CodeOverloaded:
		return "nothing was changed; try again a little later"
	case agent.CodeFenced:
		return "the claim has another holder or has lapsed: take it anew, or give up"
	case agent.CodeSessionAlreadyRunning, agent.CodeSessionLeaseActive:
		return "wait until its turn ends or its lease expires; dormctl sessions get shows which"
	case agent.CodeStaleSessionLease, agent.CodeSessionLeaseExpired:
		return "the turn is lost to this runner: stop it; dormctl sessions recover takes it over once the lease has expired"
	case agent.CodeSessionLeaseRequired:
		return "a turn of it runs: end that with dormctl sessions commit, or cancel the session"
	case agent.CodeStaleSessionRevision:
		return "someone else wrote in between: read it again and decide on what is there now"
	case agent.CodeAlreadyClaimed:
		return "wait until it is free, as dormctl claims watch shows, or until it expires"
	case agent.CodeIdempotencyMismatch:
		return "this --request-id was used for another commit: repeat that one, or leave the flag out"
	case agent.CodeThawFailed:
		return "nothing was started; dormctl agents repair instances/MANAGER/KEY shows its checkpoint and thread, and what can be done"
	case agent.CodeHandlerFailed:
		return "the turn was not applied; the signal may be sent again"
	case agent.CodeTooLarge:
		return "split it up, or keep large contents elsewhere"
	case agent.CodeReadOnly:
		return "nothing was changed; free some disk space on the node, or move its data to a larger disk"
	case agent.CodeConflict, agent.CodeRevRegression:
		return "someone else wrote in between: load the thread again and go on from the stored rev"
	case agent.CodeRevisionMismatch:
		return "someone else wrote in between: read it again and decide on what is there now"
	case agent.CodeMissingThread, agent.CodeThreadMismatch:
		return "checkpoint and thread do not belong together: dormctl agents repair KEY shows both and what can be done"
	case agent.CodeDuplicateEntry:
		return "an entry with that id is there with other content: give the new one an id of its own"
	case agent.CodeDeleted:
		return "it has been deleted since, or is sealed for a while: read it again before you write"
	case agent.CodeCompacted:
		return "what came before the floor is gone: start from the floor"
	case agent.CodeCorrupt:
		return "stored data fails its checksum on that node: ask another with --endpoints, and replace the node"
	default:
		return ""
	}
}
