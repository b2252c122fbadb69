package agent

// SavedConversation is what an agent leaves of one conversation between its runs:
// the state that it goes on from, and what was said to it meanwhile. What
// people were shown of it are its messages, which are read apart.
type SavedConversation struct {
	ConversationRow
	State   JSON             // an object, as it was saved last; nil where none was yet
	Pending []PendingMessage // oldest first
}

// ConversationRow is a conversation without its contents, as lists and results
// show it.
type ConversationRow struct {
	ID           string
	Incarnation  uint64
	Revision     uint64 // counts the saves of the state; 0 before the first one
	Agent        string // whose it is: "" until a write names one
	Owner        string // on whose behalf: "" until a write names one
	Lifecycle    Lifecycle
	Interrupted  bool   // waits for a person; see Lifecycle and SetInterrupted
	Version      uint64 // of the state's format, as the state says; 0 where there is none
	Title        string
	MessageCount uint64
	PendingCount uint64
	Consumed     uint64 // pending messages up to this number are in the state
	CreatedAt    int64  // Unix ms
	UpdatedAt    int64  // of the last write of any kind
	SavedAt      int64  // of the last save; 0 where there was none
	ExpiresAt    int64  // 0 means never: see SetTTL
}

// PendingMessage is one that came while the agent was busy. It stays until a
// save of the state says that it is in it.
type PendingMessage struct {
	Number  uint64 // counts those of the conversation, from 1; never used again
	Message JSON   // an object
	At      int64  // Unix ms
}

// Lifecycle says why a state was saved.
type Lifecycle string

// The lifecycles. LifecycleInterrupt sets the conversation's interrupted flag,
// the first three clear it, and the last two leave it as it is.
const (
	LifecycleCompletion     Lifecycle = "completion"
	LifecycleCancel         Lifecycle = "cancel"
	LifecycleError          Lifecycle = "error"
	LifecycleInterrupt      Lifecycle = "interrupt"
	LifecycleTitleGenerated Lifecycle = "title_generated"
	LifecycleShutdown       Lifecycle = "shutdown"
)

// Interrupts tells what a save with this lifecycle makes of the interrupted
// flag that stands.
func (l Lifecycle) Interrupts(stands bool) bool {
	switch l {
	case LifecycleInterrupt:
		return true
	case LifecycleCompletion, LifecycleCancel, LifecycleError:
		return false
	case LifecycleTitleGenerated, LifecycleShutdown:
		return stands
	}
	return stands
}

// Message is one row of what people see of a conversation. Rows are ordered by
// (At, Seq), which is the order of Seq alone: the log's time never runs back.
type Message struct {
	ID        string
	Seq       uint64 // 0-based position
	Revision  uint64 // counts its writes: 1 until it is updated
	At        int64  // Unix ms, of the log: when it was saved first
	UpdatedAt int64
	Role      MessageRole
	Type      string // of the content, open: text, thinking, tool_call, tool_result, …
	Content   JSON   // an object
	ToolCall  string // the id of the tool call that it belongs to; "" for none
	Status    ToolStatus
	Synthetic bool // put in by the program, said by nobody
}

// MessageRole says who speaks.
type MessageRole string

// The roles.
const (
	RoleUser      MessageRole = "user"
	RoleAssistant MessageRole = "assistant"
	RoleTool      MessageRole = "tool"
	RoleSystem    MessageRole = "system"
)

// ToolStatus says how a tool call stands; "" on a message that is of none.
type ToolStatus string

// The statuses. Any may follow any: an interrupted call may run again.
const (
	ToolExecuting   ToolStatus = "executing"
	ToolCompleted   ToolStatus = "completed"
	ToolFailed      ToolStatus = "failed"
	ToolInterrupted ToolStatus = "interrupted"
	ToolCancelled   ToolStatus = "cancelled"
)

// ToolMessageID is the id of the message that shows a tool call, and with
// RoleTool of the one that shows its result. A conversation has one of each.
func ToolMessageID(call string, role MessageRole) string {
	if role == RoleTool {
		return toolResultPrefix + call
	}
	return toolCallPrefix + call
}

const (
	toolCallPrefix   = "call:"
	toolResultPrefix = "result:"
)

// messagePrefix begins the ids of messages whose caller gave none.
const messagePrefix = "message_"

// MessageID is the id that a message gets at seq of a conversation's
// incarnation where its caller gave none.
func MessageID(incarnation, seq uint64) string { return generatedName(messagePrefix, incarnation, seq) }

// GeneratedMessageID takes an id of MessageID's apart, as GeneratedID does an
// entry's.
func GeneratedMessageID(id string) (incarnation, seq uint64, ok bool) {
	return generatedParts(messagePrefix, id)
}

// SameContent tells whether d, sent again, is what m shows since it was saved.
// What an update may have changed since does not count.
func (d *MessageDraft) SameContent(m *Message) bool {
	return d.Role == m.Role && d.Type == m.Type && d.ToolCall == m.ToolCall && d.Synthetic == m.Synthetic &&
		(m.Revision > 1 || string(d.Content) == string(m.Content) && d.Status == m.Status)
}
