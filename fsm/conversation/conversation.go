package conversation

import (
	"bytes"
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Ops are the ops on conversations.
var Ops = []txn.Op{txn.OpOf(Save), txn.OpOf(SetInterrupted), txn.OpOf(PendMessage), txn.OpOf(SaveMessages), txn.OpOf(UpdateMessage), txn.OpOf(Delete)}

// Reads are the reads of conversations.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List), txn.ReadOf(ListMessages)}

// A conversation's row is small and has all listed fields. Its state, its pending messages and its
// messages are separate rows, so that a new message or status does not write the state again.

// Conversation is a conversation while an op changes it.
type Conversation struct {
	*txn.Tx
	Id          string
	Row         *logpb.ConversationRow // incarnation 0 if it does not exist
	interrupted bool                   // the stored value
	places      []string               // the stored index rows; none below txn.FoundLevel
}

// Open opens the conversation of a reference, whether it exists or not. It returns an error if
// agent or owner do not match. It first removes an expired or erased one.
func Open(c *txn.Tx, ref *agent.ConversationRef) (*Conversation, error) {
	if err := agent.ValidKey("conversation_id", ref.ID); err != nil {
		return nil, err
	}
	w, err := LoadStored(c, ref.ID)
	if err != nil {
		return nil, err
	}
	gone, err := conversationGone(c.Rows, c.Scope, w.Row, c.Progress.Wall)
	if err != nil {
		return nil, err
	}
	if gone {
		if err := clearConversation(w); err != nil {
			return nil, err
		}
		w = &Conversation{Tx: c, Id: ref.ID, Row: &logpb.ConversationRow{}}
	}
	return w, belongs(ref, w.Row)
}

// LoadStored returns a conversation from its rows.
func LoadStored(c *txn.Tx, id string) (*Conversation, error) {
	w := &Conversation{Tx: c, Id: id, Row: &logpb.ConversationRow{}}
	raw, err := c.Rows.Get(w.key(kv.KindConversation))
	if err != nil || raw == nil {
		return w, err
	}
	if w.Row, err = DecodeRow(id, raw); err != nil {
		return nil, err
	}
	w.interrupted = w.Row.Interrupted
	if c.Level >= txn.FoundLevel {
		w.places = Places(c.Scope, id, w.Row)
	}
	return w, nil
}

// belongs refuses a reference whose agent or owner differs from the conversation's.
func belongs(ref *agent.ConversationRef, row *logpb.ConversationRow) error {
	for _, name := range []struct{ field, want, stored string }{
		{"agent_id", ref.Agent, row.Agent}, {"owner_id", ref.Owner, row.Owner},
	} {
		if name.want != "" && name.stored != "" && name.want != name.stored {
			e := agent.Errorf(agent.CodeForbidden, "conversation %q has another %s than %q", ref.ID, name.field, name.want)
			e.Field = name.field
			return e
		}
	}
	return nil
}

// Exists reports whether the conversation is stored.
func (w *Conversation) Exists() bool { return w.Row.Incarnation != 0 }

func (w *Conversation) key(kind string) string { return kv.IDKey(kind, w.Scope, w.Id) }

// openToWrite opens a conversation for a write that may create it.
func openToWrite(c *txn.Tx, ref *agent.ConversationRef) (*Conversation, error) {
	w, err := Open(c, ref)
	if err != nil {
		return nil, err
	}
	return w, c.CheckWritable(kv.KindConversationTombstone, ref.ID, ref.IfIncarnation, w.Row.Incarnation)
}

// write prepares a change of the row, and creates the conversation if it does not exist.
func (w *Conversation) write(ref *agent.ConversationRef) error {
	if ref.Agent != "" && w.Row.Agent == "" && w.Level >= txn.FoundLevel {
		if err := txn.CheckNotErased(w.Tx, ref.Agent); err != nil {
			return err
		}
		if w.Exists() {
			w.Row.Named = w.NewIncarnation()
		}
	}
	if !w.Exists() {
		w.Row.Incarnation, w.Row.CreatedAt = w.NewIncarnation(), w.Progress.Wall
		w.AddUsage(1, 0)
	}
	if ref.Agent != "" {
		w.Row.Agent = ref.Agent
	}
	if ref.Owner != "" {
		w.Row.Owner = ref.Owner
	}
	w.Row.UpdatedAt = w.Progress.Wall
	return nil
}

// store writes the row and its index rows.
func (w *Conversation) store() error {
	raw := command.Marshal(w.Row)
	w.Rows.Set(w.key(kv.KindConversation), raw)
	switch index := w.key(kv.KindConversationInterrupted); {
	case w.Row.Interrupted && !w.interrupted:
		w.Rows.Set(index, kv.Indexed)
	case !w.Row.Interrupted && w.interrupted:
		w.Rows.Remove(index)
	}
	if w.Level >= txn.FoundLevel {
		for _, place := range Places(w.Scope, w.Id, w.Row) {
			if slices.Contains(w.places, place) {
				continue
			}
			if err := w.Place(place); err != nil {
				return err
			}
		}
	}
	w.RecordLateChange(&logpb.Change{Kind: string(agent.ChangedConversation), Key: w.Id, Revision: w.Row.Revision})
	return nil
}

// done stores the row and returns it as the op's result.
func (w *Conversation) done() (*agent.ConversationResult, error) {
	if err := w.store(); err != nil {
		return nil, err
	}
	return &agent.ConversationResult{Conversation: command.ConversationRowOf(w.Id, w.Row)}, nil
}

// Save runs save_conversation: it stores the state from which the agent continues.
func Save(c *txn.Tx, op *agent.SaveConversation) (agent.OpResult, error) {
	version, err := agent.StateVersion(op.State)
	if err != nil {
		return nil, err
	}
	w, err := openToWrite(c, &op.ConversationRef)
	if err != nil {
		return nil, err
	}
	if saved, err := w.saved(op); err != nil || saved {
		return &agent.ConversationResult{Conversation: command.ConversationRowOf(w.Id, w.Row)}, err
	}
	row := w.Row
	if row.Revision != op.Revision {
		return nil, txn.RevisionMismatch(op.ID, fmt.Sprintf("its state was loaded at revision %d, load it again", op.Revision), row.Revision)
	}
	if op.Consumed > row.Pended {
		return nil, agent.Invalid("consumed", "consumed = %d is past the %d messages that were ever pending", op.Consumed, row.Pended)
	}
	if err := w.write(&op.ConversationRef); err != nil {
		return nil, err
	}
	row.Revision++
	row.Lifecycle, row.Version, row.SavedAt = string(op.Lifecycle), version, w.Progress.Wall
	row.Interrupted = op.Lifecycle.Interrupts(row.Interrupted)
	if op.Title != "" {
		row.Title = op.Title
	}
	w.AddUsage(0, int64(len(op.State))-int64(row.StateBytes))
	row.StateBytes = uint64(len(op.State))
	w.Rows.Set(w.key(kv.KindConversationState), op.State)
	if err := w.consume(op.Consumed); err != nil {
		return nil, err
	}
	return w.done()
}

// saved reports whether a save equals the last one: then it is a repeated request, such as the last
// event of an agent that shuts down.
func (w *Conversation) saved(op *agent.SaveConversation) (bool, error) {
	row := w.Row
	if row.Revision == 0 || row.Revision != op.Revision+1 || row.Lifecycle != string(op.Lifecycle) ||
		op.Title != "" && op.Title != row.Title || op.Consumed > row.Consumed {
		return false, nil
	}
	state, err := w.Rows.Get(w.key(kv.KindConversationState))
	return err == nil && bytes.Equal(state, op.State), err
}

// SetInterrupted runs set_interrupted.
func SetInterrupted(c *txn.Tx, op *agent.SetInterrupted) (agent.OpResult, error) {
	w, err := openToWrite(c, &op.ConversationRef)
	if err != nil {
		return nil, err
	}
	if !w.Exists() {
		return nil, txn.NotFound("conversation", op.ID)
	}
	if err := w.write(&op.ConversationRef); err != nil {
		return nil, err
	}
	w.Row.Interrupted = op.Interrupted
	return w.done()
}

// Delete runs delete_conversation.
func Delete(c *txn.Tx, op *agent.DeleteConversation) (agent.OpResult, error) {
	w, err := Open(c, &op.ConversationRef)
	if err != nil {
		return nil, err
	}
	row := w.Row
	if err := txn.Matches(op.ID, op.IfIncarnation, op.IfRevision, row); err != nil {
		return nil, err
	}
	if !w.Exists() {
		return c.DeleteMissing(kv.KindConversationTombstone, op.ID, op.Seal)
	}
	if err := w.Drop(); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: row.Incarnation},
		c.WriteTombstone(kv.KindConversationTombstone, op.ID, row.Incarnation, op.Seal)
}

// Drop removes a conversation with all its rows.
func (w *Conversation) Drop() error {
	row := w.Row
	for _, kind := range []string{kv.KindConversation, kv.KindConversationState, kv.KindConversationPending, kv.KindConversationInterrupted} {
		w.Rows.Remove(w.key(kind))
	}
	for _, place := range w.places {
		if err := w.Unplace(place); err != nil {
			return err
		}
	}
	for _, kind := range []string{kv.KindMessage, kv.KindMessageID} {
		parts := kv.IncarnationKey(kind, w.Scope, w.Id, row.Incarnation)
		if err := w.Rows.RemoveRange(parts, kv.After(parts)); err != nil {
			return err
		}
	}
	w.ClearExpiry(row.ExpiresAt, w.key(kv.KindConversation))
	w.AddUsage(-1, -int64(Bytes(row)))
	w.RecordLateChange(&logpb.Change{Kind: string(agent.ChangedConversation), Key: w.Id, Deleted: true}) // and its messages with it
	return nil
}

// Bytes returns the bytes that a conversation counts for in its scope.
func Bytes(row *logpb.ConversationRow) uint64 {
	return row.StateBytes + row.PendingBytes + row.MessageBytes
}

// DecodeRow decodes the row of the conversation of an id.
func DecodeRow(id string, raw []byte) (*logpb.ConversationRow, error) {
	return command.Decode[logpb.ConversationRow](raw, "conversation", id)
}
