package agent

import (
	"context"
	"iter"
)

// Service is the contract of the whole store. The store, the router and the client
// implement it, and all servers serve it. Errors are *Error.
//
// All methods may be called concurrently. Callers must not change their arguments
// until the call returns, and must never change results.
type Service interface {
	// Commit applies all ops of a commit, linearizably, and returns their results. If
	// the OutcomeOf an error is Undecided, the commit may still apply; sent again with
	// the same Request, it applies at most once. If ctx ends first, the error is
	// unknown.
	Commit(ctx context.Context, c Commit) (Result, error)

	// Read answers all of r at one index, which is no older than the call unless
	// r.Stale is set. An error means that nothing was read; the error of a single read
	// is in its Answer.
	Read(ctx context.Context, r Reads) (Answers, error)

	// Watch yields the entries of a thread from w.From on, each once and in order. It
	// continues with new entries as they are applied, until ctx ends, the consumer
	// stops, or an event or error ends it. An error is the last element; it is
	// not_found if the thread does not exist. Resume from the seq after the last
	// entry.
	//
	// A watch of a claim yields the claim's current state, and again whenever a
	// holding begins, ends or expires. If changes are faster than the consumer, it
	// gets the last one. Renewals are not changes.
	//
	// A watch of changes yields all changes of a scope from w.From on, each once and
	// in log order, including expiries. Renewals of claims are left out, and so are
	// the parts of an object or scope that is deleted as a whole. The first event
	// marks the start, and may hold no change. EventCompacted ends the watch if
	// changes from w.From on are no longer kept; EventDeleted if the scope was
	// deleted, even if it exists again. From may be at most one past the end of the
	// log; a higher index is invalid. The watch is unavailable while a node of an
	// older version is in the cluster.
	Watch(ctx context.Context, w Watch) iter.Seq2[Event, error]
}

// Submitter is a Service that accepts commits without a goroutine for each, for
// servers with many commits in flight.
type Submitter interface {
	Service

	// Submit starts a commit and returns. It calls done exactly once, from any
	// goroutine; done must not block. If ctx ends first, done may still be called
	// later with the true outcome.
	Submit(ctx context.Context, c Commit, done func(Result, error))
}

// Watch selects what to watch: the entries of a thread, the holder of a claim, or all
// changes of a scope. Exactly one of Thread, Claim and Changes is set.
type Watch struct {
	Scope   string
	Claim   string
	Thread  string
	Changes bool
	From    uint64 // first seq; of changes the first index, where 0 means after the first event's Through
	Skip    uint64 // of changes: how many changes at index From to skip
	Prefix  string // only changes whose Path has this prefix
	Body    bool   // of changes: with what each change wrote, unless a later one has replaced it

	// Incarnation of the watched thread: if the id has another one, the watch ends
	// with EventDeleted. 0 means the current one.
	Incarnation uint64
}

// Event is one element of a watch.
type Event struct {
	Kind  EventKind
	Entry Entry  // of EventEntry
	Floor uint64 // of EventCompacted: the first seq, or index of changes, that is still kept; the watch ends
	Claim Claim  // of EventClaim

	Changes []Changed // of EventChanges: the next changes, in order; may be empty
	Through uint64    // of EventChanges: the last index whose changes are complete; resume after it, or after the last change
}

// Last reports whether the watch ends with this event.
func (e Event) Last() bool { return e.Kind == EventCompacted || e.Kind == EventDeleted }

// EventKind is the kind of an Event.
type EventKind int

const (
	// EventEntry carries an entry.
	EventEntry EventKind = iota
	// EventCompacted ends a watch whose From has been compacted away.
	EventCompacted
	// EventDeleted ends a watch whose thread, or scope, has been deleted.
	EventDeleted
	// EventClaim carries the state of a claim.
	EventClaim
	// EventChanges carries changes of a scope.
	EventChanges
)

// Await implements Commit with Submit: it submits a commit and waits for its outcome.
// If ctx ends first, the outcome is unknown.
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
	case o := <-came: // both were ready: the true outcome is better than unknown
		return o.result, o.err
	default:
		return Result{}, Errorf(CodeUnknown, "the call ended before the commit's outcome was known (%v); retry with the same request id", context.Cause(ctx))
	}
}

// Validate validates a watch as far as possible without the store, and fills in the
// default scope.
func (w *Watch) Validate() error {
	if w.Scope == "" {
		w.Scope = DefaultScope
	}
	if err := ValidID("scope", w.Scope); err != nil {
		return err
	}
	if w.Changes {
		return validFeed(w)
	}
	if w.Skip != 0 || w.Prefix != "" || w.Body {
		return Invalid("prefix", "skip, prefix and body are for a watch of changes: leave them out")
	}
	if w.Claim == "" {
		return ValidID("thread", w.Thread)
	}
	if w.Thread != "" || w.From != 0 || w.Incarnation != 0 {
		return Invalid("claim", "a watch of a claim names no thread, seq or incarnation: use two watches")
	}
	return ValidID("claim", w.Claim)
}

func validFeed(w *Watch) error {
	switch {
	case w.Thread != "" || w.Claim != "" || w.Incarnation != 0:
		return Invalid("changes", "a watch of changes names no thread, claim or incarnation: use two watches")
	case w.Skip != 0 && w.From == 0:
		return Invalid("skip", "skip = %d counts changes of the index in from: set from", w.Skip)
	}
	return validPath("prefix", w.Prefix)
}
