package fsm

// Kinds of conversations; keys.go says what all keys have in common.
const (
	kindConversation            = "\x84" // conversation → logpb.ConversationRow
	kindConversationState       = "\x85" // conversation → JSON
	kindConversationPending     = "\x86" // conversation → logpb.PendingRow
	kindConversationInterrupted = "\x87" // conversation: an index
	kindMessage                 = "\x88" // conversation, incarnation, seq → logpb.MessageRow
	kindMessageID               = "\x89" // conversation, incarnation, message id → seq; ids that callers chose
	kindConversationTombstone   = "\x8a" // conversation → logpb.Tombstone
	kindConversationAgent       = "\x98" // agent, conversation: an index
	kindConversationOwner       = "\x99" // owner, conversation: an index
)

// conversationKinds are those of scopedKinds.
var conversationKinds = []string{
	kindConversation, kindConversationState, kindConversationPending, kindConversationInterrupted,
	kindMessage, kindMessageID, kindConversationTombstone, kindConversationAgent, kindConversationOwner,
}

func messageKey(scope, conversation string, incarnation, seq uint64) string {
	return incarnationKey(kindMessage, scope, conversation, incarnation) + encodeNumber(seq)
}

func messageIDKey(scope, conversation string, incarnation uint64, id string) string {
	return incarnationKey(kindMessageID, scope, conversation, incarnation) + id
}
