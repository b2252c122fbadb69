package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// From a feature level on, conversations are found by their agent and by their
// owner. One that is made or named from then on puts itself there; those that
// were there before are put there a piece an entry, in the order of their keys.
// What is behind the cursor is found, so once it is past the last one all are.

// foundLevel is the feature level from which on conversations are found, sealed
// and erased with their agent.
const foundLevel = 4

// foundKey holds the cursor: the key from which on conversations are still to
// be put in the indexes. There is none below foundLevel.
const foundKey = kindSystem + "conversations"

// foundAll is the cursor once all conversations are found.
var foundAll = after(kindConversation)

// allFound tells whether the indexes lack no conversation.
func allFound(rows rowReader) (bool, error) {
	cursor, err := rows.get(foundKey)
	return string(cursor) == foundAll, err
}

// conversationPlaces are the rows by which a conversation is found. A name that
// the door does not let in would break their keys: it has none.
func conversationPlaces(scope, id string, row *logpb.ConversationRow) (places []string) {
	if row.Agent != "" && agent.ValidID("agent_id", row.Agent) == nil {
		places = append(places, indexKey(kindConversationAgent, scope, row.Agent, id))
	}
	if row.Owner != "" && agent.ValidID("owner_id", row.Owner) == nil {
		places = append(places, indexKey(kindConversationOwner, scope, row.Owner, id))
	}
	return places
}

// beginFinding has the entries after this one put in what is there.
func (b *batch) beginFinding() {
	b.rows.set(foundKey, []byte(kindConversation))
	b.expireAt(max(b.progress.wall, 1), foundKey)
}

// findConversations puts the next conversations in the indexes. What it costs
// is all that an entry sweeps.
func (b *batch) findConversations() (cost int, err error) {
	cursor, err := b.rows.get(foundKey)
	if err != nil {
		return 0, err
	}
	keys, more, err := b.rows.keys(string(cursor), foundAll, agent.ConversationsFoundMax)
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		_, scope, id, ok := splitID(key)
		if !ok {
			return 0, fmt.Errorf("the key %q names no conversation", key)
		}
		raw, err := b.rows.get(key)
		if err != nil {
			return 0, err
		}
		row, err := decodeConversationRow(id, raw)
		if err != nil {
			return 0, err
		}
		for _, place := range conversationPlaces(scope, id, row) {
			b.rows.set(place, indexed)
		}
	}
	next := foundAll
	if more {
		next = keys[len(keys)-1] + separator
		b.expireAt(max(b.progress.wall, 1), foundKey)
	}
	b.rows.set(foundKey, []byte(next))
	return sweepMax, nil
}

// conversationGone tells whether a conversation's row stands for nothing any
// more: it has expired, or its agent has been erased since.
func conversationGone(rows rowReader, scope string, row *logpb.ConversationRow, wall int64) (bool, error) {
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
func conversationErased(rows rowReader, scope string, row *logpb.ConversationRow) (bool, error) {
	if row.Agent == "" {
		return false, nil
	}
	raw, err := rows.get(idKey(kindErasing, scope, row.Agent))
	below, conversations := decodeErasing(raw)
	return conversations && since(row) < below, err
}

// since is when a conversation came to be its agent's, as incarnations count.
func since(row *logpb.ConversationRow) uint64 { return max(row.Incarnation, row.Named) }

// clear removes a conversation that an op or the sweep came upon and that is
// gone. Where its agent was erased, the receipt tells of it, expired or not.
func (w *conversation) clear() error {
	erased, err := conversationErased(w.rows, w.scope, w.row)
	if err != nil {
		return err
	}
	if !erased {
		return w.drop()
	}
	e, err := w.openErasure(w.row.Agent)
	if err != nil {
		return err
	}
	if err := e.conversation(w); err != nil {
		return err
	}
	return e.store()
}
