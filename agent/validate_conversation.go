package agent

import (
	"fmt"
	"strconv"
)

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
