package conversation

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// From txn.FoundLevel on, conversations are indexed by agent and by owner. A conversation that is
// created or assigned from then on adds itself to the indexes; Backfill adds the others.

// Places returns the index rows of a conversation. An invalid agent or owner would break their
// keys: it has no index row.
func Places(scope, id string, row *logpb.ConversationRow) (places []string) {
	if row.Agent != "" && agent.ValidKey("agent_id", row.Agent) == nil {
		places = append(places, kv.IndexKey(kv.KindConversationAgent, scope, row.Agent, id))
	}
	if row.Owner != "" && agent.ValidKey("owner_id", row.Owner) == nil {
		places = append(places, kv.IndexKey(kv.KindConversationOwner, scope, row.Owner, id))
	}
	return places
}

// conversationGone reports whether a conversation has expired, or its agent has been erased since.
func conversationGone(rows kv.Reader, scope string, row *logpb.ConversationRow, wall int64) (bool, error) {
	if txn.Expired(row.ExpiresAt, wall) {
		return true, nil
	}
	if seededbug.Is(seededbug.ErasedIsRead) {
		return false, nil
	}
	return conversationErased(rows, scope, row)
}

// conversationErased reports whether the conversation belonged to its agent when the agent was
// erased with its conversations.
func conversationErased(rows kv.Reader, scope string, row *logpb.ConversationRow) (bool, error) {
	if row.Agent == "" {
		return false, nil
	}
	raw, err := rows.Get(kv.IDKey(kv.KindErasing, scope, row.Agent))
	below, conversations := txn.DecodeErasureMark(raw)
	return conversations && NamedSince(row) < below, err
}

// NamedSince returns the incarnation number at which a conversation was assigned to its agent.
func NamedSince(row *logpb.ConversationRow) uint64 { return max(row.Incarnation, row.Named) }

func indexConversation(b *txn.Entry, key string, raw []byte) error {
	_, scope, id, ok := kv.SplitID(key)
	if !ok {
		return fmt.Errorf("the key %q names no conversation", key)
	}
	row, err := DecodeRow(id, raw)
	if err != nil {
		return err
	}
	c := &txn.Tx{Entry: b, Scope: scope}
	if err := c.OpenScope(); err != nil {
		return err
	}
	for _, place := range Places(scope, id, row) {
		if has, err := c.Rows.Get(place); err != nil {
			return err
		} else if has != nil && c.Level >= txn.LimitsLevel {
			continue // the conversation has changed since, and counts
		}
		if err := c.Place(place); err != nil {
			return err
		}
	}
	if c.Record.Changed {
		c.Scopes[scope] = c.Record
	}
	return nil
}

// SetTTL runs set_ttl of a conversation.
func SetTTL(c *txn.Tx, op *agent.SetTTL) (agent.OpResult, error) {
	w, err := openToWrite(c, &agent.ConversationRef{ID: op.Conversation, IfIncarnation: op.IfIncarnation})
	if err != nil {
		return nil, err
	}
	if !w.Exists() {
		return nil, txn.NotFound("conversation", op.Conversation)
	}
	key := w.key(kv.KindConversation)
	c.ClearExpiry(w.Row.ExpiresAt, key)
	w.Row.ExpiresAt, w.Row.UpdatedAt = c.Deadline(op.TTL.Milliseconds()), c.Progress.Wall
	c.SetExpiry(w.Row.ExpiresAt, key)
	c.AddUsage(0, 0)
	return w.done()
}

// Expire removes the conversation of an id if it expires at when.
func Expire(c *txn.Tx, id string, when int64) error {
	w, err := LoadStored(c, id)
	if err != nil || w.Row.ExpiresAt != when {
		return err
	}
	return clearConversation(w)
}

// Backfill adds conversations from below txn.FoundLevel to the indexes by agent and by owner.
var Backfill = txn.Backfill{
	Level: txn.FoundLevel, Cursor: kv.KindSystem + "conversations", Kind: kv.KindConversation, Most: agent.ConversationsFoundMax, Add: indexConversation,
}

// clearConversation removes an expired or erased conversation that an op or the sweep found. If its
// agent was erased, the receipt counts it, expired or not.
func clearConversation(w *Conversation) error {
	erased, err := conversationErased(w.Rows, w.Scope, w.Row)
	if err != nil {
		return err
	}
	if !erased {
		return w.Drop()
	}
	return w.Eraser.EraseConversation(w.Tx, w.Id)
}
