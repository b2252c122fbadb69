package agent

import (
	"fmt"
	"strconv"
	"time"
)

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

// conversationOp judges an op on a conversation or its messages, or one that
// revises a value, and adds it to the tally.
func (t *tally) conversationOp(op Op) error {
	switch o := op.(type) {
	case *SaveConversation:
		return t.saveConversation(o)
	case *SetInterrupted:
		return t.conversation(&o.ConversationRef)
	case *PendMessage:
		return t.pendMessage(o)
	case *SaveMessages:
		return t.saveMessages(o)
	case *UpdateMessage:
		return t.updateMessage(o)
	case *DeleteConversation:
		return firstOf(t.conversation(&o.ConversationRef), validSpan("seal", o.Seal, SealMax))
	case *ReviseValue:
		return t.reviseValue(o)
	default:
		return t.timerOp(op)
	}
}

// conversation judges which conversation is meant.
func (t *tally) conversation(r *ConversationRef) error {
	t.bytes += len(r.ID) + len(r.Agent) + len(r.Owner)
	return r.validate()
}

func (r *ConversationRef) validate() error {
	return firstOf(ValidID("conversation_id", r.ID), optionalID("agent_id", r.Agent), optionalID("owner_id", r.Owner))
}

func (t *tally) saveConversation(o *SaveConversation) error {
	if err := firstOf(
		t.conversation(&o.ConversationRef),
		validWord("lifecycle", o.Lifecycle, LifecycleCompletion, LifecycleCancel, LifecycleError, LifecycleInterrupt,
			LifecycleTitleGenerated, LifecycleShutdown),
		validText("title", "conversation_title_max", o.Title, ConversationTitleMax),
		settleState(&o.State),
	); err != nil {
		return err
	}
	if _, err := StateVersion(o.State); err != nil {
		return err
	}
	t.bytes += len(o.Title)
	return t.contents("state", ConversationStateMax, "conversation_state_max", o.State)
}

// StateVersion is the version that a conversation's state says it is of. A
// state that is not an object with a version and a state is invalid: nothing
// could go on from it.
func StateVersion(state JSON) (uint64, error) {
	if state == nil {
		return 0, Invalid("state", "state is missing: save what the conversation goes on from")
	}
	var version, inner JSON
	if err := members(state, func(name []byte, value JSON) error {
		switch plain, err := unquote(name); {
		case err != nil:
			return err
		case plain == "version":
			version = value
		case plain == "state":
			inner = value
		}
		return nil
	}); err != nil {
		return 0, Invalid("state", "state: %v", err)
	}
	n, err := strconv.ParseUint(string(version), 10, 64)
	if err != nil || n < 1 || n > ConversationVersionMax {
		return 0, Invalid("state.version", "state.version must be a whole number from 1 to %d", ConversationVersionMax)
	}
	if len(inner) == 0 || inner[0] != '{' {
		return 0, Invalid("state.state", "state.state must be a JSON object: it is what the conversation goes on from")
	}
	return n, nil
}

func (t *tally) pendMessage(o *PendMessage) error {
	if err := firstOf(t.conversation(&o.ConversationRef), settle("message", &o.Message)); err != nil {
		return err
	}
	if o.Message == nil {
		return Invalid("message", "message is missing: give an object")
	}
	return t.contents("message", MessageBytesMax, "message_bytes_max", o.Message)
}

func (t *tally) saveMessages(o *SaveMessages) error {
	if err := t.conversation(&o.ConversationRef); err != nil {
		return err
	}
	if t.entries += len(o.Messages); t.entries > CommitEntriesMax {
		return TooLarge("messages", "commit_entries_max", t.entries, CommitEntriesMax)
	}
	if len(o.Messages) == 0 {
		return Invalid("messages", "messages is empty: save at least one")
	}
	for i := range o.Messages {
		if err := t.message(&o.Messages[i]); err != nil {
			return within(err, fmt.Sprintf("messages[%d]", i))
		}
	}
	return nil
}

// message judges a draft and fills in what it leaves out.
func (t *tally) message(d *MessageDraft) error {
	if d.Type == "" {
		d.Type = MessageTypeDefault
	}
	if d.ToolCall != "" {
		if err := d.settleTool(); err != nil {
			return err
		}
	} else if d.Status != "" {
		return Invalid("status", "status = %q is of a tool call, and tool_call is missing", d.Status)
	}
	if err := firstOf(
		optionalID("id", d.ID),
		validWord("role", d.Role, RoleUser, RoleAssistant, RoleTool, RoleSystem),
		validText("type", "kind_bytes_max", d.Type, KindBytesMax),
		settle("content", &d.Content),
	); err != nil {
		return err
	}
	if d.Content == nil {
		d.Content = emptyObject
	}
	t.bytes += len(d.ID) + len(d.Type) + len(d.ToolCall)
	return t.contents("content", MessageBytesMax, "message_bytes_max", d.Content)
}

// settleTool judges and fills in what a message has of a tool call.
func (d *MessageDraft) settleTool() error {
	if len(d.ToolCall) > ToolCallBytesMax {
		return TooLarge("tool_call", "tool_call_bytes_max", len(d.ToolCall), ToolCallBytesMax)
	}
	id := ToolMessageID(d.ToolCall, d.Role)
	if d.ID == "" {
		d.ID = id
	}
	if d.ID != id {
		return Invalid("id", "id = %q must be %q, or left out: a tool call's message is found by it", d.ID, id)
	}
	if d.Status == "" && d.Role != RoleTool {
		d.Status = ToolExecuting
	}
	return firstOf(ValidID("tool_call", d.ToolCall), validToolStatus(d.Status))
}

func validToolStatus(status ToolStatus) error {
	return validWord("status", status, ToolExecuting, ToolCompleted, ToolFailed, ToolInterrupted, ToolCancelled, "")
}

func (t *tally) updateMessage(o *UpdateMessage) error {
	t.bytes += len(o.Message)
	if err := firstOf(
		t.conversation(&o.ConversationRef), ValidID("message_id", o.Message), validToolStatus(o.Status), settle("content", &o.Content),
	); err != nil {
		return err
	}
	if o.Status == "" && o.Content == nil {
		return Invalid("status", "the update changes nothing: give a status or content")
	}
	return t.contents("content", MessageBytesMax, "message_bytes_max", o.Content)
}

func (t *tally) reviseValue(o *ReviseValue) error {
	t.bytes += len(o.Key) + len(o.To) + len(o.ContentType)
	if err := firstOf(ValidID("key", o.Key), validContentType(o.ContentType), settleMetadata(&o.Metadata)); err != nil {
		return err
	}
	if o.To != "" {
		if err := validKey("to", o.To); err != nil {
			return err
		}
	}
	switch {
	case o.To == "" && o.ContentType == "" && o.Metadata == nil:
		return Invalid("to", "nothing is to change: give to, content_type or metadata")
	case o.To == o.Key:
		return Invalid("to", "to = %q is where the value is: leave it out, or name another key", o.To)
	}
	t.bytes += len(o.Metadata)
	return nil
}

// validConversationRead judges a read of conversations.
func validConversationRead(read Read) error {
	switch r := read.(type) {
	case *GetConversation:
		return r.validate()
	case *ListConversations:
		return r.judge()
	case *ListMessages:
		return r.judge()
	default:
		return validTimerRead(read)
	}
}

func (r *ListConversations) judge() error {
	given := 0
	for _, is := range []bool{r.Interrupted, r.Agent != "", r.Owner != ""} {
		if is {
			given++
		}
	}
	if given > 1 {
		return Invalid("agent_id", "list conversations by one of agent, owner and interrupted, not by %d of them", given)
	}
	return firstOf(validPage(r.Page), optionalID("agent_id", r.Agent), optionalID("owner_id", r.Owner))
}

func (r *ListMessages) judge() error {
	switch {
	case r.Tail > 0 && r.From > 0:
		return Invalid("tail", "tail does not go with from: give one or the other")
	case r.Limit > ListLimitMax || r.Tail > ListLimitMax:
		return Invalid("limit", "limit and tail must be at most %d: page with from", ListLimitMax)
	}
	return r.validate()
}
