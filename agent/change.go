package agent

import (
	"fmt"
	"strconv"
	"strings"
)

// Changed is one thing of a scope that an entry of the log has written or
// removed: by a commit, or by itself, as what expires does.
//
// Index and Ordinal are its place in the feed of its scope: an index counts its
// changes from 0, and neither ever changes, so a feed goes on after any change
// without a gap or a repetition. A prefix leaves changes out, and does not
// number them anew.
type Changed struct {
	Index   uint64
	Ordinal uint64
	Time    int64 // of the log at Index, Unix ms

	Kind         ChangeKind
	Agent        string // of a memory: whose it is
	Conversation string // of a message: the one that it is in
	Manager      string // of a timer: whose instance it is of
	Instance     string // of a timer: the instance's key
	Key          string // its id, key or name; "" of a memory where all that the agent remembered is gone at once
	Revision     uint64 // after the change: a thread's rev, a claim's epoch, a timer's generation; 0 of a review or a scope, and where Deleted
	Deleted      bool   // it is gone
	Status       string // of a session and of a review; TimerParked of a timer that is
}

// ChangeKind names what has changed: as the paths of API.md do.
type ChangeKind string

// The kinds of changes.
const (
	ChangedValue      ChangeKind = "values"
	ChangedCheckpoint ChangeKind = "checkpoints"
	ChangedThread     ChangeKind = "threads"
	ChangedMemory     ChangeKind = "memory"
	ChangedClaim      ChangeKind = "claims"
	ChangedSession    ChangeKind = "sessions"
	ChangedReview     ChangeKind = "reviews"
	ChangedScope      ChangeKind = "scopes"

	ChangedConversation ChangeKind = "conversations" // its row: whatever is done to it or said in it
	ChangedMessage      ChangeKind = "messages"
	ChangedManager      ChangeKind = "managers"
	ChangedTimer        ChangeKind = "timers"
)

// TimerParked is the status that a change of a timer has which nobody could
// fire: it waits until it is put anew.
const TimerParked = "parked"

// Path is kind/key, but memory/agent/key of a memory, messages/conversation/key
// of a message, and timers/manager/instance/key of a timer: what a feed's prefix
// is compared with.
func (c *Changed) Path() string {
	path := string(c.Kind) + "/"
	for _, within := range [...]string{c.Agent, c.Conversation, c.Manager, c.Instance} {
		if within != "" {
			path += within + "/"
		}
	}
	return path + c.Key
}

// Place is index.ordinal, for people and for HTTP.
func (c *Changed) Place() string { return fmt.Sprintf("%d.%d", c.Index, c.Ordinal) }

// AfterPlace is where a feed goes on after a Place, or after all of an index:
// a watch's From and Skip.
func AfterPlace(text string) (from, skip uint64, ok bool) {
	whole, part, within := strings.Cut(text, ".")
	from, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || from+1 == 0 {
		return 0, 0, false
	}
	if !within {
		return from + 1, 0, true
	}
	skip, err = strconv.ParseUint(part, 10, 64)
	return from, skip + 1, err == nil && skip+1 != 0
}

// EndOfChanges is the error that the last event of a watch of changes stands
// for.
func EndOfChanges(e Event) *Error {
	if e.Kind == EventDeleted {
		return Errorf(CodeDeleted, "the scope has been deleted: read it anew, and watch from the index of that")
	}
	err := Errorf(CodeCompacted, "changes below index %d are kept no more: read the scope anew, and watch from the index of that", e.Floor)
	err.Floor = e.Floor
	return err
}
