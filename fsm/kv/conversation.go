package kv

// Kinds of conversations; see keys.go for the form of all keys.
const (
	KindConversation            = "\x84" // conversation → logpb.ConversationRow
	KindConversationState       = "\x85" // conversation → JSON
	KindConversationPending     = "\x86" // conversation → logpb.PendingRow
	KindConversationInterrupted = "\x87" // conversation: an index
	KindMessage                 = "\x88" // conversation, incarnation, seq → logpb.MessageRow
	KindMessageID               = "\x89" // conversation, incarnation, message id → seq; ids that callers chose
	KindConversationTombstone   = "\x8a" // conversation → logpb.Tombstone
	KindConversationAgent       = "\x98" // agent, conversation: an index
	KindConversationOwner       = "\x99" // owner, conversation: an index
)

// conversationKinds are part of ScopedKinds.
var conversationKinds = []string{
	KindConversation, KindConversationState, KindConversationPending, KindConversationInterrupted,
	KindMessage, KindMessageID, KindConversationTombstone, KindConversationAgent, KindConversationOwner,
}

// MessageKey names a message's row.
func MessageKey(scope, conversation string, incarnation, seq uint64) string {
	return IncarnationKey(KindMessage, scope, conversation, incarnation) + EncodeNumber(seq)
}

// MessageIDKey names the row that maps a chosen message id to its seq.
func MessageIDKey(scope, conversation string, incarnation uint64, id string) string {
	return IncarnationKey(KindMessageID, scope, conversation, incarnation) + id
}
