package conversation

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// PendMessage runs pend_message.
func PendMessage(c *txn.Tx, op *agent.PendMessage) (agent.OpResult, error) {
	w, err := openToWrite(c, &op.ConversationRef)
	if err != nil {
		return nil, err
	}
	row, size := w.Row, uint64(len(op.Message))
	switch {
	case row.Pending >= agent.ConversationPendingMax:
		return nil, pendingRefusal(op.ID, "conversation_pending_max", agent.ConversationPendingMax)
	case row.PendingBytes+size > agent.ConversationPendingBytesMax:
		return nil, pendingRefusal(op.ID, "conversation_pending_bytes_max", agent.ConversationPendingBytesMax)
	}
	pending, err := w.pending()
	if err != nil {
		return nil, err
	}
	if err := w.write(&op.ConversationRef); err != nil {
		return nil, err
	}
	row.Pended++
	pending.Messages = append(pending.Messages, &logpb.PendingMessage{Number: row.Pended, Message: op.Message, At: w.Progress.Wall})
	if err := w.storePending(pending); err != nil {
		return nil, err
	}
	result, err := w.done()
	if err != nil {
		return nil, err
	}
	result.Pending = row.Pended
	return result, nil
}

func pendingRefusal(id, limit string, bound uint64) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "conversation %q has too much pending: %s = %d; its agent must consume some", id, limit, bound)
	e.Limit = fmt.Sprintf("%s=%d", limit, bound)
	e.RetryAfterMS = txn.QuotaRetryMS
	return e
}

// consume removes pending messages up to a number: the saved state includes them.
func (w *Conversation) consume(through uint64) error {
	w.Row.Consumed = max(w.Row.Consumed, through)
	if through == 0 || w.Row.Pending == 0 {
		return nil
	}
	pending, err := w.pending()
	if err != nil {
		return err
	}
	pending.Messages = slices.DeleteFunc(pending.Messages, func(m *logpb.PendingMessage) bool { return m.Number <= through })
	return w.storePending(pending)
}

func (w *Conversation) pending() (*logpb.PendingRow, error) {
	raw, err := w.Rows.Get(w.key(kv.KindConversationPending))
	if err != nil {
		return nil, err
	}
	return decodePending(w.Id, raw)
}

// storePending writes the pending messages, and their count.
func (w *Conversation) storePending(pending *logpb.PendingRow) error {
	size := 0
	for _, m := range pending.Messages {
		size += len(m.Message)
	}
	w.AddUsage(0, int64(size)-int64(w.Row.PendingBytes))
	w.Row.Pending, w.Row.PendingBytes = uint64(len(pending.Messages)), uint64(size)
	if len(pending.Messages) == 0 {
		w.Rows.Remove(w.key(kv.KindConversationPending))
		return nil
	}
	raw := command.Marshal(pending)
	w.Rows.Set(w.key(kv.KindConversationPending), raw)
	return nil
}

// decodePending returns the pending messages; nil raw means none.
func decodePending(id string, raw []byte) (*logpb.PendingRow, error) {
	return command.Decode[logpb.PendingRow](raw, "what is pending in conversation", id)
}
