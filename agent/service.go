package agent

import (
	"context"
	"iter"
)

// Service is the contract of the whole store: what store, router and client
// implement alike, and what every front serves. Errors are *Error.
//
// All methods may be called concurrently. Callers must not change what they
// passed in until the call returns, nor what they got back, ever.
type Service interface {
	// Commit applies a commit, whole and linearizably, and returns what came
	// of it. An error whose OutcomeOf is Undecided leaves open whether it
	// applies; sent again with the same Request it applies at most once. When
	// ctx ends first, the error is unknown.
	Commit(ctx context.Context, c Commit) (Result, error)

	// Read answers all of r at one index: no older than the call, unless
	// r.Stale. An error means that nothing could be read; what a single read
	// lacks is in its Answer.
	Read(ctx context.Context, r Reads) (Answers, error)

	// Watch yields a thread's entries from w.From on, each once and in order,
	// and goes on with new ones as they are applied, until ctx ends, the
	// consumer stops, or an event or error ends it. A yielded error is the
	// last element, not_found where there is no such thread; resume from the
	// seq after the last entry.
	//
	// Of a claim it yields how it stands, whether anybody holds it or not, and
	// again whenever a holding begins or ends, by expiring too; of changes that
	// come faster than they are taken, the last. Renewing is no change.
	//
	// Of a scope's changes it yields all from w.From on, each once and in the
	// order of the log: those that the machine itself makes too, but neither the
	// renewing of claims nor, one by one, what goes with a thing or a scope that
	// is deleted as a whole. Its first event tells where it begins, and may hold
	// no change. EventCompacted ends it where changes from w.From on are kept no
	// more, EventDeleted where the scope was deleted, even if it was made anew.
	// An index that the log has not come to yet is invalid, but for the next
	// one. It is unavailable while a node of an older version is in the cluster.
	Watch(ctx context.Context, w Watch) iter.Seq2[Event, error]
}

// Submitter is a Service that takes commits without a goroutine each: what
// fronts use that have many in flight.
type Submitter interface {
	Service

	// Submit starts a commit and returns; done is called exactly once, from
	// any goroutine, and must not block. When ctx ends first, done may still
	// be called later with the true outcome.
	Submit(ctx context.Context, c Commit, done func(Result, error))
}

// Watch asks for a thread's entries as they come, for who holds a claim, or for
// all that changes in a scope, of the kinds of ChangeKind: exactly one of Thread, Claim and Changes is set.
type Watch struct {
	Scope   string
	Claim   string
	Thread  string
	Changes bool
	From    uint64 // first seq; of changes the first index, and 0 means past the first event's Through
	Skip    uint64 // of the changes at From: how many not to tell, as they are known
	Prefix  string // only changes whose Path begins so

	// Incarnation is that of the thread which is meant: another one under its id
	// ends the watch with EventDeleted. 0 means the one that is there.
	Incarnation uint64
}

// Event is one element of a watch.
type Event struct {
	Kind  EventKind
	Entry Entry  // of EventEntry
	Floor uint64 // of EventCompacted: the first seq, or index of changes, still there; the watch ends
	Claim Claim  // of EventClaim

	Changes []Changed // of EventChanges: what comes next, in order; may be none
	Through uint64    // of EventChanges: the last index that has been told whole; go on after it, or after the last change
}

// Last tells whether the watch ends with this event.
func (e Event) Last() bool { return e.Kind == EventCompacted || e.Kind == EventDeleted }

// EventKind says what an Event tells.
type EventKind int

const (
	// EventEntry carries an entry.
	EventEntry EventKind = iota
	// EventCompacted ends a watch whose From has been compacted away.
	EventCompacted
	// EventDeleted ends a watch whose thread, or scope, has been deleted.
	EventDeleted
	// EventClaim carries how a claim stands.
	EventClaim
	// EventChanges carries changes of a scope.
	EventChanges
)

// Await makes a commit and waits for its outcome: what Commit is over Submit.
// When ctx ends first, the outcome is unknown.
func Await(ctx context.Context, s Submitter, c Commit) (Result, error) {
	type outcome struct {
		result Result
		err    error
	}
	came := make(chan outcome, 1)
	s.Submit(ctx, c, func(result Result, err error) { came <- outcome{result, err} })
	select {
	case o := <-came:
		return o.result, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-came: // both were ready: the truth is better than the deadline
		return o.result, o.err
	default:
		return Result{}, Errorf(CodeUnknown, "the call ended before the commit's outcome was known (%v); retry with the same request id", context.Cause(ctx))
	}
}
