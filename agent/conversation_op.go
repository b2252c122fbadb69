package agent

import "time"

// ConversationRef says which conversation is meant, and on whose behalf. An
// agent or owner that is named must be the one that is stored: another is
// forbidden. Where none is stored yet, a write stores it.
type ConversationRef struct {
	ID            string
	Agent         string // "" means any
	Owner         string // "" means any
	IfIncarnation uint64 // 0 means any
}

// SaveConversation saves the state that a conversation goes on from, creating
// the conversation where there is none. A stale state never overwrites a newer
// one: Revision must be the stored one, or the save is refused with
// revision_mismatch. Saved again as it is stored already, which is how events
// that come more than once look, it changes nothing and is answered as done.
type SaveConversation struct {
	ConversationRef
	Revision  uint64 // that the state was loaded at, or saved as last; 0 for the first save
	Lifecycle Lifecycle
	State     JSON   // an object with a "version", from 1 on, and a "state", an object; more is up to the program
	Title     string // "" keeps the one that is there
	Consumed  uint64 // pending messages up to this number are in the state, and go; 0 means none
}

// SetInterrupted says whether a conversation waits for a person, beside what
// its saves say. A missing conversation is not_found.
type SetInterrupted struct {
	ConversationRef
	Interrupted bool
}

// PendMessage keeps a message for an agent that is busy, until a save consumes
// it. It creates the conversation where there is none. More than
// ConversationPendingMax at once are refused as overloaded.
type PendMessage struct {
	ConversationRef
	Message JSON // an object
}

// SaveMessages adds messages to what people see of a conversation, in order,
// creating the conversation where there is none. One whose id is there already
// with the same content is skipped, with other content it is refused with
// duplicate_entry.
type SaveMessages struct {
	ConversationRef
	Messages []MessageDraft
}

// MessageDraft is a message as a caller hands it in.
type MessageDraft struct {
	ID        string // "" means ToolMessageID of one that belongs to a tool call, and a generated one of others
	Role      MessageRole
	Type      string     // "" means MessageTypeDefault
	Content   JSON       // an object; nil means {}
	ToolCall  string     // "" for none
	Status    ToolStatus // of a tool call; "" means ToolExecuting of the message that shows the call
	Synthetic bool
}

// MessageTypeDefault is the type of a message that was saved without one.
const MessageTypeDefault = "text"

// UpdateMessage changes a message in its place: a tool call's status, or what
// it has come to. A missing message, or conversation, is no refusal: the
// result says that there was none.
type UpdateMessage struct {
	ConversationRef
	Message string     // its id; see ToolMessageID
	Status  ToolStatus // "" keeps it
	Content JSON       // an object; nil keeps it
}

// DeleteConversation deletes a conversation with its messages; a missing one is fine.
type DeleteConversation struct {
	ConversationRef
	IfRevision *uint64
	Seal       time.Duration // every write to the conversation is refused for so long
}

// ReviseValue changes what is known of a value, and not its bytes: the key
// that it is under, its content type, its metadata. All at once or nothing; a
// missing value is not_found.
type ReviseValue struct {
	Key           string
	To            string // the key to move it to, where there must be none (already_exists); "" means it stays
	ContentType   string // "" keeps it
	Metadata      JSON   // a merge patch (RFC 7396); nil keeps it
	IfRevision    *uint64
	IfIncarnation uint64
}

func (*SaveConversation) isOp()   {}
func (*SetInterrupted) isOp()     {}
func (*PendMessage) isOp()        {}
func (*SaveMessages) isOp()       {}
func (*UpdateMessage) isOp()      {}
func (*DeleteConversation) isOp() {}
func (*ReviseValue) isOp()        {}

// ConversationResult answers SaveConversation, SetInterrupted, PendMessage and
// SaveMessages: the conversation as it stands after the op.
type ConversationResult struct {
	Conversation ConversationRow
	Pending      uint64       // of PendMessage: the message's number
	Messages     []EntryStamp // of SaveMessages: one a draft, in order; of those already there too
}

// MessageResult answers UpdateMessage.
type MessageResult struct {
	Found   bool
	Message EntryStamp // where it was found
}

func (*ConversationResult) isOpResult() {}
func (*MessageResult) isOpResult()      {}

// GetConversation reads a conversation. One of another agent or owner than the
// reference names is forbidden.
type GetConversation struct{ ConversationRef }

// ListConversations lists conversations in id order: all of them, or through an
// index those of which one thing holds. Lists by agent and by owner are
// unavailable until all nodes of the cluster can do them, and the conversations
// from before are in the indexes.
type ListConversations struct {
	Page
	Interrupted bool   // only those that wait for a person
	Agent       string // only this agent's; "" means any
	Owner       string // only on behalf of this one; "" means any
}

// ListMessages reads a conversation's messages in order.
type ListMessages struct {
	ConversationRef
	From  uint64 // first seq
	Tail  uint64 // the last so many instead of From; 0 means not
	Limit uint64 // 0 means ListLimitDefault
}

func (*GetConversation) isRead()   {}
func (*ListConversations) isRead() {}
func (*ListMessages) isRead()      {}

// ConversationList answers ListConversations.
type ConversationList struct {
	Items []ConversationRow
	Next  string
}

// MessageList answers ListMessages.
type MessageList struct {
	Conversation ConversationRow
	Items        []Message
	Next         *uint64 // the From of the next page; nil at the end
}

func (*SavedConversation) isFound() {}
func (*ConversationList) isFound()  {}
func (*MessageList) isFound()       {}
