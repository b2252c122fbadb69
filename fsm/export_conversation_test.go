package fsm

import (
	"errors"

	"dormouse/fsm/conversation"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// ConversationKinds are the kinds of the rows that conversations leave, except tombstones.
var ConversationKinds = []string{
	kv.KindConversation, kv.KindConversationState, kv.KindConversationPending, kv.KindConversationInterrupted, kv.KindMessage, kv.KindMessageID,
}

// Found compares the indexes with the conversations. stale are index rows without a conversation,
// lacking are required rows that are missing, and all reports whether the backfill is complete.
func (v *View) Found() (stale, lacking []string, all bool, err error) {
	cursor, err := v.Get(conversation.Backfill.Cursor)
	if err != nil {
		return nil, nil, false, err
	}
	places := map[string]bool{} // :: row → it must be there
	err = txn.EachRow(v.view, kv.KindConversation, func(name string, raw []byte) error {
		_, scope, id, _ := kv.SplitID(kv.KindConversation + name)
		row, err := conversation.DecodeRow(id, raw)
		for _, place := range conversation.Places(scope, id, row) {
			places[place] = kv.KindConversation+name < string(cursor)
		}
		return err
	})
	for _, kind := range []string{kv.KindConversationAgent, kv.KindConversationOwner} {
		err = errors.Join(err, txn.EachRow(v.view, kind, func(name string, _ []byte) error {
			if _, ok := places[kind+name]; !ok {
				stale = append(stale, kind+name)
			}
			delete(places, kind+name)
			return nil
		}))
	}
	for place, must := range places {
		if must {
			lacking = append(lacking, place)
		}
	}
	return stale, lacking, string(cursor) == conversation.Backfill.End(), err
}
