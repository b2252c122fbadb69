package agent

import (
	"fmt"
	"strconv"
	"strings"
)

// Changed is one change in a scope: something that a log entry wrote or removed. A
// commit makes changes, and so does the expiry of rows.
//
// Index and Ordinal are its position in the feed of the scope. Ordinals count the
// changes of one index from 0, and positions never change, so a feed resumes after any
// change without gaps or repetitions. A feed with a prefix skips changes and keeps
// their ordinals.
type Changed struct {
	Index   uint64
	Ordinal uint64
	Time    int64 // log time at Index, Unix ms

	Kind         ChangeKind
	Agent        string // of a memory: the agent that it belongs to
	Conversation string // of a message: the conversation that it belongs to
	Manager      string // of a timer: the manager of its instance
	Instance     string // of a timer: the key of its instance
	Key          string // id, key or name; "" if all memories of Agent were removed at once
	Revision     uint64 // after the change: a thread's rev, a claim's epoch, a timer's generation; 0 of a review or a scope, and if Deleted
	Deleted      bool   // it was deleted
	Status       string // of a session and of a review; TimerParked of a parked timer
	Principal    string // who made the commit; "" of an expiry, and of a commit without a principal
	Body         Found  // what was written, if Watch.Body asked for it; see Changed.Written
}

// ChangeKind is the kind of the changed object, as in the paths of the HTTP API.
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

	ChangedConversation ChangeKind = "conversations" // the conversation's row, on every write to it or to its messages
	ChangedMessage      ChangeKind = "messages"
	ChangedManager      ChangeKind = "managers"
	ChangedTimer        ChangeKind = "timers"
)

// ChangeKinds are all kinds of changes.
var ChangeKinds = []ChangeKind{
	ChangedValue, ChangedCheckpoint, ChangedThread, ChangedMemory, ChangedClaim, ChangedSession, ChangedReview, ChangedScope,
	ChangedConversation, ChangedMessage, ChangedManager, ChangedTimer,
}

// TimerParked is the Status of a timer that could not be fired. The timer waits until
// it is put again.
const TimerParked = "parked"

// Path returns kind/key, which a feed's prefix is compared with. It is
// memory/agent/key for a memory, messages/conversation/key for a message, and
// timers/manager/instance/key for a timer.
func (c *Changed) Path() string {
	path := string(c.Kind) + "/"
	for _, within := range [...]string{c.Agent, c.Conversation, c.Manager, c.Instance} {
		if within != "" {
			path += within + "/"
		}
	}
	return path + c.Key
}

// Under reports whether a feed with a prefix has the change. The removal of all memories of an agent
// is under the path of each of them.
func (c *Changed) Under(prefix string) bool {
	path := c.Path()
	return strings.HasPrefix(path, prefix) || c.Kind == ChangedMemory && c.Key == "" && strings.HasPrefix(prefix, path)
}

// Written returns the read of what c wrote: of a value, a checkpoint, a thread without its entries,
// or a memory. It is nil for other kinds and for a removal.
func (c *Changed) Written() Read {
	switch {
	case c.Deleted:
	case c.Kind == ChangedValue:
		return &GetValue{Key: c.Key}
	case c.Kind == ChangedCheckpoint:
		return &GetCheckpoint{Key: c.Key, Revision: c.Revision}
	case c.Kind == ChangedThread:
		return &GetThread{Thread: c.Key}
	case c.Kind == ChangedMemory:
		return &GetMemory{Agent: c.Agent, ID: c.Key}
	}
	return nil
}

// DeletedLater returns, for each of some changes in order, whether a later one of them deleted what it wrote. Written then
// finds nothing, or what was created since: that may have the same revision and time.
func DeletedLater(changes []Changed) []bool {
	type row struct {
		kind       ChangeKind
		agent, key string
	}
	deleted, later := map[row]bool{}, make([]bool, len(changes))
	for i := len(changes) - 1; i >= 0; i-- {
		of := row{changes[i].Kind, changes[i].Agent, changes[i].Key}
		whole := row{of.kind, of.agent, ""}
		later[i] = deleted[of] || of.kind == ChangedMemory && deleted[whole]
		deleted[of] = deleted[of] || changes[i].Deleted
	}
	return later
}

// SetBody sets the body to what Written found, and returns the size of that. It sets none if that is
// not what c wrote, because a later change replaced it.
func (c *Changed) SetBody(found Found) (bytes int) {
	var revision uint64
	var at int64
	switch f := found.(type) {
	case *Value:
		revision, at, bytes = f.Revision, f.UpdatedAt, len(f.Bytes)+len(f.Metadata)
	case *Checkpoint:
		revision, at, bytes = f.Revision, f.UpdatedAt, len(f.State)+len(f.Metadata)
	case *Thread:
		// A compaction and a change of the expiry keep the time of the last append.
		revision, at, bytes = f.Rev, max(f.UpdatedAt, c.Time), len(f.Summary)+len(f.Metadata)
	case *Memory:
		revision, at, bytes = f.Revision, f.UpdatedAt, len(f.Content)+len(f.Data)+len(f.Metadata)+4*len(f.Embedding)
	}
	if found != nil && revision == c.Revision && at == c.Time {
		c.Body = found
	}
	return bytes
}

// Place returns the position as index.ordinal, for people and for HTTP.
func (c *Changed) Place() string { return fmt.Sprintf("%d.%d", c.Index, c.Ordinal) }

// AfterPlace returns the From and Skip with which a watch resumes after text. Text is
// a Place, or an index alone, which means after all changes of the index. ok is false
// if text is neither.
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

// EndOfChanges returns the error that the last event of a watch of changes means.
func EndOfChanges(e Event) *Error {
	if e.Kind == EventDeleted {
		return Errorf(CodeDeleted, "the scope was deleted: read it again, and watch from the index after that read")
	}
	err := Errorf(CodeCompacted, "changes below index %d are no longer kept: read the scope again, and watch from the index after that read", e.Floor)
	err.Floor = e.Floor
	return err
}
