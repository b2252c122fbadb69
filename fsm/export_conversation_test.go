package fsm

// ConversationKinds are the kinds of the rows that conversations leave,
// tombstones apart.
var ConversationKinds = []string{
	kindConversation, kindConversationState, kindConversationPending, kindConversationInterrupted, kindMessage, kindMessageID,
}

// Kinds that tests count.
const (
	KindConversationInterrupted = kindConversationInterrupted
	KindConversationTombstone   = kindConversationTombstone
)
