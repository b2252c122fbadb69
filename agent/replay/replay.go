package replay

import (
	"cmp"
	"slices"

	"dormouse/agent"
)

// Replay is the history of a session.
type Replay struct {
	Session  *agent.Session
	FromSeq  uint64  // the seq of the first entry in the timeline; earlier ones are left out
	Timeline []Event // ordered by time; entries of the thread by seq
}

// Event is one event of a session. Events with the same request, seq, event, effect
// and operation are one event.
type Event struct {
	At        int64 // Unix ms; of an entry, the time that its writer set
	What      What
	ID        string  // of the request, entry, snapshot or review
	Request   string  // of the turn, if it is known
	Seq       *uint64 // in the thread; nil if the event has no entry
	Name      string  // the event that an entry names, or its kind
	Effect    string  // the effect that an entry belongs to, or the review
	Operation string
	By        string     // the runner, or the person who decided
	Status    string     // a request's outcome, a review's status, a snapshot's phase, a checkpoint's lifecycle
	Revision  uint64     // of a checkpoint
	Data      agent.JSON // a request's input, an entry's payload, a review's arguments

	identity identity
}

// What is the kind of an event.
type What string

// The kinds, in the order of events at the same time: requests and leases come before
// entries, the others after.
const (
	Created    What = "created"
	Forked     What = "forked"
	Requested  What = "request"
	Leased     What = "lease" // of the running turn: earlier leases are not stored
	Entry      What = "entry"
	Snapshot   What = "snapshot"
	Checkpoint What = "checkpoint"
	Asked      What = "review"
	Escalated  What = "review_escalated"
	Decided    What = "review_decided" // decided, expired or withdrawn
	Queued     What = "queued"
)

var order = []What{Created, Forked, Requested, Leased, Entry, Snapshot, Checkpoint, Asked, Escalated, Decided, Queued}

// Found holds the stored data of a session that is not in the Session.
type Found struct {
	Entries     []agent.Entry // of its thread, in seq order
	Reviews     []agent.Review
	Checkpoints []agent.CheckpointRow // the history of its checkpoint
}

// Of returns the history of a session. Entries that name another session are left out,
// because threads may be shared.
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

// identity identifies an event: events with the same identity are the same event.
type identity struct{ request, seq, event, effect, operation string }

// merge keeps the entries in seq order, whatever their times, and inserts the other
// events, which are in time order.
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
