package agent

import (
	"fmt"
	"strconv"
	"time"

	"dormouse/internal/compactjson"
)

// ConversationRef names a conversation, its agent and its owner. If an agent or owner
// is given, it must equal the stored one, or the call is forbidden. If none is stored
// yet, a write stores it.
type ConversationRef struct {
	ID            string
	Agent         string // "" means any
	Owner         string // "" means any
	IfIncarnation uint64 // 0 means any
}

// SaveConversation saves the state that a conversation continues from. It creates the
// conversation if it does not exist. A stale state never overwrites a newer one: if
// Revision is not the stored revision, the save fails with revision_mismatch. A save
// that equals the stored state, such as a repeated event, changes nothing and
// succeeds.
type SaveConversation struct {
	ConversationRef
	Revision  uint64 // the revision that was loaded, or saved last; 0 for the first save
	Lifecycle Lifecycle
	State     JSON   // an object with a "version", at least 1, and a "state", an object; other members are allowed
	Title     string // "" keeps the current one
	Consumed  uint64 // pending messages up to this number are part of the state, and are removed; 0 means none
}

// SetInterrupted sets whether a conversation waits for a person, without a save. A
// missing conversation is not_found.
type SetInterrupted struct {
	ConversationRef
	Interrupted bool
}

// PendMessage keeps a message for a busy agent until a save consumes it. It creates
// the conversation if it does not exist. If ConversationPendingMax messages are
// pending, it fails with overloaded.
type PendMessage struct {
	ConversationRef
	Message JSON // an object
}

// SaveMessages adds messages to what people see of a conversation, in order. It
// creates the conversation if it does not exist. A message whose id is stored is
// skipped if the content is equal; otherwise the op fails with duplicate_entry.
type SaveMessages struct {
	ConversationRef
	Messages []MessageDraft
}

// MessageDraft is a message before it is saved.
type MessageDraft struct {
	ID        string // "" means ToolMessageID for a message of a tool call, and a generated id otherwise
	Role      MessageRole
	Type      string     // "" means MessageTypeDefault
	Content   JSON       // an object; nil means {}
	ToolCall  string     // "" for none
	Status    ToolStatus // of a tool call; "" means ToolExecuting on the message that shows the call
	Synthetic bool
}

// MessageTypeDefault is the type of a message that was saved without one.
const MessageTypeDefault = "text"

// UpdateMessage changes a message in place: the status of a tool call, or its content.
// A missing message or conversation is not an error: the result says that it was not
// found.
type UpdateMessage struct {
	ConversationRef
	Message string     // its id; see ToolMessageID
	Status  ToolStatus // "" keeps it
	Content JSON       // an object; nil keeps it
}

// DeleteConversation deletes a conversation and its messages; deleting a missing
// conversation succeeds.
type DeleteConversation struct {
	ConversationRef
	IfRevision *uint64
	Seal       time.Duration // for how long writes to the conversation are refused
}

// ReviseValue changes a value's key, content type and metadata, but not its bytes. All
// changes apply, or none. A missing value is not_found.
type ReviseValue struct {
	Key           string
	To            string // the new key, which must not exist (else already_exists); "" keeps the key
	ContentType   string // "" keeps it
	Metadata      JSON   // a merge patch (RFC 7396); nil keeps it
	IfRevision    *uint64
	IfIncarnation uint64
}

// ConversationResult is the result of SaveConversation, SetInterrupted, PendMessage
// and SaveMessages: the conversation after the op.
type ConversationResult struct {
	Conversation ConversationRow
	Pending      uint64       // of PendMessage: the number of the message
	Messages     []EntryStamp // of SaveMessages: one for each draft, in order, also for drafts that were already stored
}

// MessageResult is the result of UpdateMessage.
type MessageResult struct {
	Found   bool
	Message EntryStamp // set if Found
}

func (*ConversationResult) isOpResult() {}
func (*MessageResult) isOpResult()      {}

// GetConversation reads a conversation. It is forbidden if the reference names another
// agent or owner.
type GetConversation struct{ ConversationRef }

// ListConversations lists conversations in id order: all of them, or those that match
// one filter, which has an index. Lists by agent and by owner are unavailable until
// all nodes of the cluster support them and the older conversations are indexed.
type ListConversations struct {
	Page
	Interrupted bool   // only those that wait for a person
	Agent       string // only conversations of this agent; "" means any
	Owner       string // only conversations of this owner; "" means any
}

// ListMessages reads a conversation's messages in order.
type ListMessages struct {
	ConversationRef
	From  uint64 // first seq
	Tail  uint64 // return the last Tail messages, instead of From; 0 means From applies
	Limit uint64 // 0 means ListLimitDefault
}

func (*GetConversation) isRead()   {}
func (*ListConversations) isRead() {}
func (*ListMessages) isRead()      {}

// ConversationList is the result of ListConversations.
type ConversationList struct {
	Items []ConversationRow
	Next  string
}

// MessageList is the result of ListMessages.
type MessageList struct {
	Conversation ConversationRow
	Items        []Message
	Next         *uint64 // the From of the next page; nil at the end
}

func (*SavedConversation) isFound() {}
func (*ConversationList) isFound()  {}
func (*MessageList) isFound()       {}

func (o *SetInterrupted) validateOp(t *tally) error {
	return conversation(t, &o.ConversationRef)
}

func (o *DeleteConversation) validateOp(t *tally) error {
	return firstOf(conversation(t, &o.ConversationRef), validSpan("seal", o.Seal, SealMax))
}

// conversation validates a reference to a conversation.
func conversation(t *tally, r *ConversationRef) error {
	t.bytes += len(r.ID) + len(r.Agent) + len(r.Owner)
	return r.validate()
}

func (r *ConversationRef) validate() error {
	return firstOf(ValidID("conversation_id", r.ID), optionalID("agent_id", r.Agent), optionalID("owner_id", r.Owner))
}

func (o *SaveConversation) validateOp(t *tally) error {
	if err := firstOf(
		conversation(t, &o.ConversationRef),
		validWord("lifecycle", o.Lifecycle, LifecycleCompletion, LifecycleCancel, LifecycleError, LifecycleInterrupt,
			LifecycleTitleGenerated, LifecycleShutdown),
		validText("title", "conversation_title_max", o.Title, ConversationTitleMax),
		normalizeState(&o.State),
	); err != nil {
		return err
	}
	if _, err := StateVersion(o.State); err != nil {
		return err
	}
	t.bytes += len(o.Title)
	return t.contents("state", ConversationStateMax, "conversation_state_max", o.State)
}

// StateVersion returns the version that a conversation's state declares. A state
// without a version and an inner state is invalid: an agent could not continue from
// it.
func StateVersion(state JSON) (uint64, error) {
	if state == nil {
		return 0, Invalid("state", "state is missing: save the state that the conversation continues from")
	}
	var version, inner JSON
	if err := compactjson.Members(state, func(name, value []byte) error {
		switch plain, err := compactjson.Unquote(name); {
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
		return 0, Invalid("state.state", "state.state must be a JSON object: the conversation continues from it")
	}
	return n, nil
}

func (o *PendMessage) validateOp(t *tally) error {
	if err := firstOf(conversation(t, &o.ConversationRef), normalize("message", &o.Message)); err != nil {
		return err
	}
	if o.Message == nil {
		return Invalid("message", "message is missing: give an object")
	}
	return t.contents("message", MessageBytesMax, "message_bytes_max", o.Message)
}

func (o *SaveMessages) validateOp(t *tally) error {
	if err := conversation(t, &o.ConversationRef); err != nil {
		return err
	}
	if t.entries += len(o.Messages); t.entries > CommitEntriesMax {
		return TooLarge("messages", "commit_entries_max", t.entries, CommitEntriesMax)
	}
	if len(o.Messages) == 0 {
		return Invalid("messages", "messages is empty: save at least one")
	}
	for i := range o.Messages {
		if err := message(t, &o.Messages[i]); err != nil {
			return within(err, fmt.Sprintf("messages[%d]", i))
		}
	}
	return nil
}

// message validates a draft and fills in its defaults.
func message(t *tally, d *MessageDraft) error {
	if d.Type == "" {
		d.Type = MessageTypeDefault
	}
	if d.ToolCall != "" {
		if err := d.normalizeTool(); err != nil {
			return err
		}
	} else if d.Status != "" {
		return Invalid("status", "status = %q needs a tool call: set tool_call, or leave the status out", d.Status)
	}
	if err := firstOf(
		optionalID("id", d.ID),
		validWord("role", d.Role, RoleUser, RoleAssistant, RoleTool, RoleSystem),
		validText("type", "kind_bytes_max", d.Type, KindBytesMax),
		normalize("content", &d.Content),
	); err != nil {
		return err
	}
	if d.Content == nil {
		d.Content = emptyObject
	}
	t.bytes += len(d.ID) + len(d.Type) + len(d.ToolCall)
	return t.contents("content", MessageBytesMax, "message_bytes_max", d.Content)
}

// normalizeTool validates the tool call of a message and fills in its defaults.
func (d *MessageDraft) normalizeTool() error {
	if len(d.ToolCall) > ToolCallBytesMax {
		return TooLarge("tool_call", "tool_call_bytes_max", len(d.ToolCall), ToolCallBytesMax)
	}
	id := ToolMessageID(d.ToolCall, d.Role)
	if d.ID == "" {
		d.ID = id
	}
	if d.ID != id {
		return Invalid("id", "id = %q must be %q, or left out: the message of a tool call is found by this id", d.ID, id)
	}
	if d.Status == "" && d.Role != RoleTool {
		d.Status = ToolExecuting
	}
	return firstOf(ValidID("tool_call", d.ToolCall), validToolStatus(d.Status))
}

func validToolStatus(status ToolStatus) error {
	return validWord("status", status, ToolExecuting, ToolCompleted, ToolFailed, ToolInterrupted, ToolCancelled, "")
}

func (o *UpdateMessage) validateOp(t *tally) error {
	t.bytes += len(o.Message)
	if err := firstOf(
		conversation(t, &o.ConversationRef), ValidID("message_id", o.Message), validToolStatus(o.Status), normalize("content", &o.Content),
	); err != nil {
		return err
	}
	if o.Status == "" && o.Content == nil {
		return Invalid("status", "the update changes nothing: give a status or content")
	}
	return t.contents("content", MessageBytesMax, "message_bytes_max", o.Content)
}

func (o *ReviseValue) validateOp(t *tally) error {
	t.bytes += len(o.Key) + len(o.To) + len(o.ContentType)
	if err := firstOf(ValidKey("key", o.Key), validContentType(o.ContentType), normalizeMetadata(&o.Metadata)); err != nil {
		return err
	}
	if o.To != "" {
		if err := validValueKey("to", o.To); err != nil {
			return err
		}
	}
	switch {
	case o.To == "" && o.ContentType == "" && o.Metadata == nil:
		return Invalid("to", "the request changes nothing: give to, content_type or metadata")
	case o.To == o.Key:
		return Invalid("to", "to = %q is the current key: leave it out, or name another key", o.To)
	}
	t.bytes += len(o.Metadata)
	return nil
}

// validConversationRead validates a read of conversations.
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
	return firstOf(validRows(r.Page), optionalID("agent_id", r.Agent), optionalID("owner_id", r.Owner))
}

func (r *ListMessages) judge() error {
	switch {
	case r.Tail > 0 && r.From > 0:
		return Invalid("tail", "tail and from exclude each other: give one of them")
	case r.Limit > ListLimitMax || r.Tail > ListLimitMax:
		return Invalid("limit", "limit and tail must be at most %d: page with from", ListLimitMax)
	}
	return r.validate()
}
