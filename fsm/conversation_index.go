package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// From foundLevel on, conversations are found by their agent and by their
// owner. A conversation that is made or named from then on adds itself to the
// indexes; conversationBackfill adds the others.

// conversationPlaces are the rows by which a conversation is found. A name that
// the door does not let in would break their keys: it has none.
func conversationPlaces(scope, id string, row *logpb.ConversationRow) (places []string) {
	if row.Agent != "" && agent.ValidID("agent_id", row.Agent) == nil {
		places = append(places, kv.IndexKey(kv.KindConversationAgent, scope, row.Agent, id))
	}
	if row.Owner != "" && agent.ValidID("owner_id", row.Owner) == nil {
		places = append(places, kv.IndexKey(kv.KindConversationOwner, scope, row.Owner, id))
	}
	return places
}

// conversationGone tells whether a conversation's row stands for nothing any
// more: it has expired, or its agent has been erased since.
func conversationGone(rows kv.Reader, scope string, row *logpb.ConversationRow, wall int64) (bool, error) {
	if expired(row.ExpiresAt, wall) {
		return true, nil
	}
	if seededbug.Is(seededbug.ErasedIsRead) {
		return false, nil
	}
	return conversationErased(rows, scope, row)
}

// conversationErased tells whether a conversation was its agent's when that was
// erased, with its conversations.
func conversationErased(rows kv.Reader, scope string, row *logpb.ConversationRow) (bool, error) {
	if row.Agent == "" {
		return false, nil
	}
	raw, err := rows.Get(kv.IDKey(kv.KindErasing, scope, row.Agent))
	below, conversations := decodeErasing(raw)
	return conversations && since(row) < below, err
}

// since is when a conversation came to be its agent's, as incarnations count.
func since(row *logpb.ConversationRow) uint64 { return max(row.Incarnation, row.Named) }

func indexConversation(b *entry, key string, raw []byte) error {
	_, scope, id, ok := kv.SplitID(key)
	if !ok {
		return fmt.Errorf("the key %q names no conversation", key)
	}
	row, err := decodeConversationRow(id, raw)
	if err != nil {
		return err
	}
	for _, place := range conversationPlaces(scope, id, row) {
		b.rows.Set(place, kv.Indexed)
	}
	return nil
}

func setConversationTTL(c *commit, op *agent.SetTTL) (agent.OpResult, error) {
	w, err := openToWrite(c, &agent.ConversationRef{ID: op.Conversation, IfIncarnation: op.IfIncarnation})
	if err != nil {
		return nil, err
	}
	if !w.exists() {
		return nil, notFound("conversation", op.Conversation)
	}
	key := w.key(kv.KindConversation)
	c.unexpire(w.row.ExpiresAt, key)
	w.row.ExpiresAt, w.row.UpdatedAt = c.deadline(op.TTL.Milliseconds()), c.progress.wall
	c.expireAt(w.row.ExpiresAt, key)
	c.grow(0, 0)
	return w.done()
}

func expireConversation(c *commit, id string, when int64) error {
	w, err := storedConversation(c, id)
	if err != nil || w.row.ExpiresAt != when {
		return err
	}
	return clearConversation(w)
}

var conversationBackfill = backfill{
	level: foundLevel, cursor: kv.KindSystem + "conversations", kind: kv.KindConversation, most: agent.ConversationsFoundMax, add: indexConversation,
}

// clearConversation removes a conversation that an op or the sweep came upon and that is
// gone. Where its agent was erased, the receipt tells of it, expired or not.
func clearConversation(w *conversation) error {
	erased, err := conversationErased(w.rows, w.scope, w.row)
	if err != nil {
		return err
	}
	if !erased {
		return w.drop()
	}
	return w.eraser.eraseConversation(w.commit, w.id)
}
