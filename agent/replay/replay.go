package replay

import (
	"cmp"
	"slices"

	"dormouse/agent"
)

// Replay is what there is to tell of a session.
type Replay struct {
	Session  *agent.Session
	FromSeq  uint64  // the first entry of its thread that is told; those before it are left out
	Timeline []Event // by time, and the thread's own by seq
}

// Event is one thing that happened. What is told twice of the same request,
// seq, event, effect and operation is told once.
type Event struct {
	At        int64 // Unix ms; of an entry, what its writer says
	What      What
	ID        string  // of the request, entry, snapshot or review
	Request   string  // the turn's, where it is known
	Seq       *uint64 // of the thread; nil for what is not in it
	Name      string  // an entry's event, or else its kind
	Effect    string  // the capability call that an entry belongs to, or the review
	Operation string
	By        string     // the runner, or the person who decided
	Status    string     // a request's outcome, a review's status, a snapshot's phase, a checkpoint's lifecycle
	Revision  uint64     // of a checkpoint
	Data      agent.JSON // a request's input, an entry's payload, a review's arguments

	identity identity
}

// What says which kind of thing happened.
type What string

// The kinds, in the order in which they are told where the time is the same;
// requests and leases come before entries, the others after.
const (
	Created    What = "created"
	Forked     What = "forked"
	Requested  What = "request"
	Leased     What = "lease" // of the turn that runs: those before it have left no trace
	Entry      What = "entry"
	Snapshot   What = "snapshot"
	Checkpoint What = "checkpoint"
	Asked      What = "review"
	Escalated  What = "review_escalated"
	Decided    What = "review_decided" // by whom, or expired, or withdrawn
	Queued     What = "queued"
)

var order = []What{Created, Forked, Requested, Leased, Entry, Snapshot, Checkpoint, Asked, Escalated, Decided, Queued}

// Found is what was read of a session beside itself.
type Found struct {
	Entries     []agent.Entry // of its thread, in seq order
	Reviews     []agent.Review
	Checkpoints []agent.CheckpointRow // the history of its checkpoint
}

// Of tells what happened to a session. Entries that name another session are
// left out: a thread may be shared.
func Of(s *agent.Session, found Found) *Replay {
	told := map[identity]bool{}
	once := func(all []Event) []Event {
		return slices.DeleteFunc(all, func(e Event) bool {
			before := told[e.identity]
			told[e.identity] = true
			return before
		})
	}
	entries := once(entryEvents(s.ID, found.Entries))
	others := once(slices.Concat(sessionEvents(s), reviewEvents(found.Reviews), checkpointEvents(found.Checkpoints)))
	slices.SortStableFunc(others, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(slices.Index(order, a.What), slices.Index(order, b.What)))
	})
	r := &Replay{Session: s, Timeline: merge(entries, others)}
	if len(found.Entries) > 0 {
		r.FromSeq = found.Entries[0].Seq
	}
	return r
}

// identity is what makes two events the same one.
type identity struct{ request, seq, event, effect, operation string }

// merge keeps the entries in seq order, whatever times their writers gave, and
// puts the others, which are in order of time, where they belong between them.
func merge(entries, others []Event) []Event {
	all := make([]Event, 0, len(entries)+len(others))
	for _, e := range entries {
		n := 0
		for n < len(others) && (others[n].At < e.At || others[n].At == e.At && slices.Index(order, others[n].What) < slices.Index(order, Entry)) {
			n++
		}
		all = append(append(all, others[:n]...), e)
		others = others[n:]
	}
	return append(all, others...)
}
