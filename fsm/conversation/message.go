package conversation

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// SaveMessages runs save_messages.
func SaveMessages(c *txn.Tx, op *agent.SaveMessages) (agent.OpResult, error) {
	w, err := openToWrite(c, &op.ConversationRef)
	if err != nil {
		return nil, err
	}
	if err := w.write(&op.ConversationRef); err != nil {
		return nil, err
	}
	stamps := make([]agent.EntryStamp, len(op.Messages))
	for i := range op.Messages {
		d := &op.Messages[i]
		stamp, found, err := w.sameMessage(d)
		if err == nil && !found {
			stamp, err = w.addMessage(d)
		}
		if err != nil {
			return nil, err
		}
		stamps[i] = stamp
	}
	result, err := w.done()
	if err != nil {
		return nil, err
	}
	result.Messages = stamps
	return result, nil
}

// sameMessage looks up an existing message with a draft's id and content.
func (w *Conversation) sameMessage(d *agent.MessageDraft) (stamp agent.EntryStamp, found bool, err error) {
	if d.ID == "" {
		return stamp, false, nil
	}
	seq, row, err := w.message(d.ID)
	if err != nil || row == nil {
		return stamp, false, err
	}
	m := command.MessageOf(w.Row.Incarnation, seq, row)
	if !d.SameContent(&m) {
		e := agent.Errorf(agent.CodeDuplicateEntry, "message %q is in conversation %q already, at seq %d: update it", d.ID, w.Id, seq)
		e.Seq = seq
		return stamp, false, e
	}
	return stampOf(&m), true, nil
}

// addMessage appends a message.
func (w *Conversation) addMessage(d *agent.MessageDraft) (agent.EntryStamp, error) {
	seq := w.Row.Messages
	row := &logpb.MessageRow{
		At: w.Progress.Wall, UpdatedAt: w.Progress.Wall, Role: string(d.Role), Type: d.Type, Content: d.Content,
		ToolCall: d.ToolCall, Status: string(d.Status), Synthetic: d.Synthetic, Revision: 1,
	}
	if d.ID != "" {
		incarnation, at, generated := agent.GeneratedMessageID(d.ID)
		switch {
		case !generated || incarnation != w.Row.Incarnation:
			row.Id = d.ID
			w.Rows.Set(kv.MessageIDKey(w.Scope, w.Id, w.Row.Incarnation, d.ID), []byte(kv.EncodeNumber(seq)))
		case at != seq:
			return agent.EntryStamp{}, agent.Invalid("messages.id", "id %q is generated for another message of conversation %q: choose another", d.ID, w.Id)
		}
	}
	w.Row.Messages++
	w.storeMessage(seq, row, 0)
	m := command.MessageOf(w.Row.Incarnation, seq, row)
	return stampOf(&m), nil
}

// UpdateMessage runs update_message.
func UpdateMessage(c *txn.Tx, op *agent.UpdateMessage) (agent.OpResult, error) {
	w, err := Open(c, &op.ConversationRef)
	if err != nil {
		return nil, err
	}
	if !w.Exists() {
		return &agent.MessageResult{}, nil
	}
	if err := txn.SameIncarnation(op.ID, op.IfIncarnation, w.Row.Incarnation); err != nil {
		return nil, err
	}
	seq, row, err := w.message(op.Message)
	if err != nil || row == nil {
		return &agent.MessageResult{}, err
	}
	size := messageBytes(row)
	if op.Status != "" {
		row.Status = string(op.Status)
	}
	if op.Content != nil {
		row.Content = op.Content
	}
	row.Revision++
	row.UpdatedAt = w.Progress.Wall
	w.storeMessage(seq, row, size)
	if err := w.write(&op.ConversationRef); err != nil {
		return nil, err
	}
	if err := w.store(); err != nil {
		return nil, err
	}
	m := command.MessageOf(w.Row.Incarnation, seq, row)
	return &agent.MessageResult{Found: true, Message: stampOf(&m)}, nil
}

// message finds a message by its id; row is nil if there is none.
func (w *Conversation) message(id string) (seq uint64, row *logpb.MessageRow, err error) {
	raw, err := w.Rows.Get(kv.MessageIDKey(w.Scope, w.Id, w.Row.Incarnation, id))
	if err != nil {
		return 0, nil, err
	}
	if raw != nil {
		seq = kv.DecodeNumber(raw)
	} else {
		incarnation, at, generated := agent.GeneratedMessageID(id)
		if !generated || incarnation != w.Row.Incarnation || at >= w.Row.Messages {
			return 0, nil, nil
		}
		seq = at
	}
	if raw, err = w.Rows.Get(kv.MessageKey(w.Scope, w.Id, w.Row.Incarnation, seq)); err != nil {
		return 0, nil, err
	}
	row, err = decodeMessage(w.Id, seq, raw)
	if err != nil || command.MessageOf(w.Row.Incarnation, seq, row).ID != id {
		return 0, nil, err // a message with a chosen id has no generated one
	}
	return seq, row, nil
}

// storeMessage writes a message; before is the size of its previous version.
func (w *Conversation) storeMessage(seq uint64, row *logpb.MessageRow, before uint64) {
	raw := command.Marshal(row)
	w.Rows.Set(kv.MessageKey(w.Scope, w.Id, w.Row.Incarnation, seq), raw)
	more := int64(messageBytes(row)) - int64(before)
	w.AddUsage(0, more)
	w.Row.MessageBytes = txn.Saturate(w.Row.MessageBytes, more)
	w.RecordLateChange(&logpb.Change{
		Kind: string(agent.ChangedMessage), Conversation: w.Id, Key: command.MessageOf(w.Row.Incarnation, seq, row).ID, Revision: row.Revision,
	})
}

// messageBytes returns the bytes that a message counts for in its scope's quota.
func messageBytes(row *logpb.MessageRow) uint64 {
	return uint64(len(row.Id) + len(row.Type) + len(row.ToolCall) + len(row.Content))
}

func stampOf(m *agent.Message) agent.EntryStamp {
	return agent.EntryStamp{ID: m.ID, Seq: m.Seq, At: m.At}
}

func decodeMessage(conversation string, seq uint64, raw []byte) (*logpb.MessageRow, error) {
	if raw == nil {
		return nil, fmt.Errorf("message %d of conversation %q is missing", seq, conversation)
	}
	row := &logpb.MessageRow{}
	if err := command.Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode message %d of conversation %q: %w", seq, conversation, err)
	}
	return row, nil
}
