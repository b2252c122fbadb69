package agent

// SavedConversation is what is stored of a conversation between the agent's runs: the
// state to continue from, and the pending messages. The messages that people see are
// read separately.
type SavedConversation struct {
	ConversationRow
	State   JSON             // an object, as saved last; nil before the first save
	Pending []PendingMessage // oldest first
}

// ConversationRow is a conversation without its contents, as in lists and results.
type ConversationRow struct {
	ID           string
	Incarnation  uint64
	Revision     uint64 // counts the saves of the state; 0 before the first one
	Agent        string // the agent that it belongs to: "" until a write names one
	Owner        string // the user it is held for: "" until a write names one
	Lifecycle    Lifecycle
	Interrupted  bool   // it waits for a person; see Lifecycle and SetInterrupted
	Version      uint64 // the format version that the state declares; 0 without a state
	Title        string
	MessageCount uint64
	PendingCount uint64
	Consumed     uint64 // pending messages up to this number are part of the state
	CreatedAt    int64  // Unix ms
	UpdatedAt    int64  // of the last write of any kind
	SavedAt      int64  // of the last save; 0 before the first one
	ExpiresAt    int64  // 0 means never: see SetTTL
}

// PendingMessage is a message that arrived while the agent was busy. It is kept until
// a save of the state consumes it.
type PendingMessage struct {
	Number  uint64 // counts the conversation's pending messages, from 1; never used again
	Message JSON   // an object
	At      int64  // Unix ms
}

// Lifecycle is the reason for saving a state.
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

// Interrupts returns the interrupted flag after a save with this lifecycle, given the
// flag before it.
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

// Message is one row of what people see of a conversation. Rows are ordered by (At,
// Seq). That is also the order of Seq, because log time never goes back.
type Message struct {
	ID        string
	Seq       uint64 // 0-based position
	Revision  uint64 // counts its writes: 1 until it is updated
	At        int64  // Unix ms, log time of the first save
	UpdatedAt int64
	Role      MessageRole
	Type      string // of the content; any string: text, thinking, tool_call, tool_result, …
	Content   JSON   // an object
	ToolCall  string // id of its tool call; "" for none
	Status    ToolStatus
	Synthetic bool // added by the program, not said by a participant
}

// MessageRole is the role of a message's author.
type MessageRole string

// The roles.
const (
	RoleUser      MessageRole = "user"
	RoleAssistant MessageRole = "assistant"
	RoleTool      MessageRole = "tool"
	RoleSystem    MessageRole = "system"
)

// ToolStatus is the status of a tool call; "" on messages without a tool call.
type ToolStatus string

// The statuses. Any may follow any other: an interrupted call may run again.
const (
	ToolExecuting   ToolStatus = "executing"
	ToolCompleted   ToolStatus = "completed"
	ToolFailed      ToolStatus = "failed"
	ToolInterrupted ToolStatus = "interrupted"
	ToolCancelled   ToolStatus = "cancelled"
)

// ToolMessageID returns the id of the message that shows a tool call; with RoleTool,
// of the message that shows its result. A conversation has one of each.
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

// messagePrefix begins the ids of messages that were saved without an id.
const messagePrefix = "message_"

// MessageID returns the id of a message that was saved without one, at seq of a
// conversation's incarnation.
func MessageID(incarnation, seq uint64) string { return generatedName(messagePrefix, incarnation, seq) }

// GeneratedMessageID returns the parts of an id of MessageID, as GeneratedID does for
// entries.
func GeneratedMessageID(id string) (incarnation, seq uint64, ok bool) {
	return generatedParts(messagePrefix, id)
}

// SameContent reports whether d, when sent again, equals the saved message m. Content
// and status are not compared if m was updated since.
func (d *MessageDraft) SameContent(m *Message) bool {
	return d.Role == m.Role && d.Type == m.Type && d.ToolCall == m.ToolCall && d.Synthetic == m.Synthetic &&
		(m.Revision > 1 || string(d.Content) == string(m.Content) && d.Status == m.Status)
}
