package conversation

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// conversationRow returns the row of a reference, or an error with code not_found.
func conversationRow(r txn.Reader, ref *agent.ConversationRef) (*logpb.ConversationRow, error) {
	raw, err := r.Get(kv.IDKey(kv.KindConversation, r.Scope, ref.ID))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("conversation", ref.ID)
	}
	row, err := DecodeRow(ref.ID, raw)
	if err != nil {
		return nil, err
	}
	if gone, err := conversationGone(r.Reader, r.Scope, row, r.Progress.Wall); err != nil {
		return nil, err
	} else if gone {
		return nil, txn.NotFound("conversation", ref.ID)
	}
	if err := belongs(ref, row); err != nil {
		return nil, err
	}
	return row, txn.SameIncarnation(ref.ID, ref.IfIncarnation, row.Incarnation)
}

// Get answers get_conversation.
func Get(r txn.Reader, q *agent.GetConversation) (agent.Found, error) {
	row, err := conversationRow(r, &q.ConversationRef)
	if err != nil {
		return nil, err
	}
	out := &agent.SavedConversation{ConversationRow: command.ConversationRowOf(q.ID, row)}
	if row.Revision > 0 {
		if out.State, err = r.Get(kv.IDKey(kv.KindConversationState, r.Scope, q.ID)); err != nil {
			return nil, err
		}
		if out.State == nil {
			return nil, fmt.Errorf("conversation %q has no state at revision %d", q.ID, row.Revision)
		}
	}
	raw, err := r.Get(kv.IDKey(kv.KindConversationPending, r.Scope, q.ID))
	if err != nil {
		return nil, err
	}
	pending, err := decodePending(q.ID, raw)
	if err != nil {
		return nil, err
	}
	for _, m := range pending.Messages {
		out.Pending = append(out.Pending, agent.PendingMessage{Number: m.Number, Message: m.Message, At: m.At})
	}
	return out, nil
}

// List answers list_conversations.
func List(r txn.Reader, q *agent.ListConversations) (agent.Found, error) {
	prefix, index, err := conversationIndex(r, q)
	if err != nil {
		return nil, err
	}
	list := &agent.ConversationList{}
	list.Next, err = r.EachInPage(prefix, q.Page, func(id string, raw []byte) (int, error) {
		if index {
			var err error
			if raw, err = r.Get(kv.IDKey(kv.KindConversation, r.Scope, id)); err != nil {
				return 0, err
			}
			if raw == nil {
				return 0, fmt.Errorf("conversation %q is in an index and does not exist", id)
			}
		}
		row, err := DecodeRow(id, raw)
		if err != nil {
			return 0, err
		}
		if gone, err := conversationGone(r.Reader, r.Scope, row, r.Progress.Wall); err != nil || gone || !q.Has(row.UpdatedAt) {
			return 0, err
		}
		list.Items = append(list.Items, command.ConversationRowOf(id, row))
		return len(id) + len(raw), nil
	})
	return list, err
}

// conversationIndex returns the key prefix of the rows that a list reads, and whether they are
// index rows. Indexes by agent or owner are unavailable until the backfill is complete.
func conversationIndex(r txn.Reader, q *agent.ListConversations) (prefix string, index bool, err error) {
	switch {
	case q.Interrupted:
		return kv.ScopeKey(kv.KindConversationInterrupted, r.Scope), true, nil
	case q.Agent != "":
		prefix = kv.IDKey(kv.KindConversationAgent, r.Scope, q.Agent)
	case q.Owner != "":
		prefix = kv.IDKey(kv.KindConversationOwner, r.Scope, q.Owner)
	default:
		return kv.ScopeKey(kv.KindConversation, r.Scope), false, nil
	}
	found, err := Backfill.Complete(r.Reader)
	if err == nil && !found {
		err = agent.Errorf(agent.CodeUnavailable, "conversations are listed by agent and owner once all nodes of the cluster support it, "+
			"and those from before are in the index: upgrade the older nodes, or wait")
	}
	return prefix, true, err
}

// ListMessages answers list_messages.
func ListMessages(r txn.Reader, q *agent.ListMessages) (agent.Found, error) {
	row, err := conversationRow(r, &q.ConversationRef)
	if err != nil {
		return nil, err
	}
	out := &agent.MessageList{Conversation: command.ConversationRowOf(q.ID, row)}
	from, limit := q.From, q.Limit
	if q.Tail > 0 {
		from = row.Messages - min(q.Tail, row.Messages)
		limit = txn.OrDefault(limit, q.Tail)
	}
	if from >= row.Messages {
		return out, nil
	}
	prefix := kv.IncarnationKey(kv.KindMessage, r.Scope, q.ID, row.Incarnation)
	last, err := r.EachOfPage(prefix+kv.EncodeNumber(from), kv.After(prefix), limit, agent.ReadBytesMax, func(key string, raw []byte) (int, error) {
		seq := kv.DecodeNumber(key[len(prefix):])
		m, err := decodeMessage(q.ID, seq, raw)
		if err != nil {
			return 0, err
		}
		out.Items = append(out.Items, command.MessageOf(row.Incarnation, seq, m))
		return len(raw), nil
	})
	if last != "" {
		next := kv.DecodeNumber(last[len(prefix):]) + 1
		out.Next = &next
	}
	return out, err
}
