package memstore

import (
	"slices"

	"dormouse/agent"
)

// named returns a message's id, once the conversation has an incarnation.
func named(c *ModelConversation, message *agent.Message) string {
	if message.ID == "" {
		return agent.MessageID(c.Incarnation, message.Seq)
	}
	return message.ID
}

func (c *ModelConversation) pend(h ConversationHost, o *agent.PendMessage) (agent.OpResult, *agent.Error) {
	size := len(o.Message)
	for _, p := range c.Pending {
		size += len(p.Message)
	}
	if len(c.Pending) >= agent.ConversationPendingMax || size > agent.ConversationPendingBytesMax {
		return nil, overloaded("conversation_pending_max", agent.ConversationPendingMax)
	}
	c.pended++
	c.Pending = append(slices.Clone(c.Pending), agent.PendingMessage{Number: c.pended, Message: o.Message, At: h.Now()})
	return &agent.ConversationResult{Pending: c.pended}, nil
}

func (c *ModelConversation) add(h ConversationHost, o *agent.SaveMessages) (agent.OpResult, *agent.Error) {
	c.Messages = slices.Clone(c.Messages)
	result := &agent.ConversationResult{}
	for i := range o.Messages {
		d := &o.Messages[i]
		if at := c.find(d.ID); at >= 0 {
			there := &c.Messages[at]
			if !d.SameContent(there) {
				e := agent.Errorf(agent.CodeDuplicateEntry, "message %q exists", d.ID)
				e.Seq = there.Seq
				return nil, e
			}
			result.Messages = append(result.Messages, agent.EntryStamp{Seq: there.Seq, At: there.At})
			continue
		}
		message := agent.Message{
			ID: d.ID, Seq: uint64(len(c.Messages)), Revision: 1, At: h.Now(), UpdatedAt: h.Now(), Role: d.Role, Type: d.Type,
			Content: d.Content, ToolCall: d.ToolCall, Status: d.Status, Synthetic: d.Synthetic,
		}
		if c.Incarnation != 0 {
			message.ID = named(c, &message)
		}
		c.Messages = append(c.Messages, message)
		result.Messages = append(result.Messages, agent.EntryStamp{Seq: message.Seq, At: message.At})
	}
	return result, nil
}

// find returns the index of a message, or -1.
func (c *ModelConversation) find(id string) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(c.Messages, func(m agent.Message) bool { return m.ID == id })
}

func (m ConversationModel) update(h ConversationHost, o *agent.UpdateMessage) (agent.OpResult, *agent.Error) {
	old := m[o.ID]
	if old == nil {
		return &agent.MessageResult{}, nil
	}
	if e := old.belongs(&o.ConversationRef); e != nil {
		return nil, e
	}
	if e := h.Enter(o.ID, o.IfIncarnation, old.Incarnation); e != nil {
		return nil, e
	}
	at := old.find(o.Message)
	if at < 0 {
		return &agent.MessageResult{}, nil
	}
	c := *old
	c.Messages = slices.Clone(c.Messages)
	message := &c.Messages[at]
	if o.Status != "" {
		message.Status = o.Status
	}
	if o.Content != nil {
		message.Content = o.Content
	}
	message.Revision++
	message.UpdatedAt = h.Now()
	c.touch(h, &o.ConversationRef)
	m[o.ID] = &c
	return &agent.MessageResult{Found: true, Message: agent.EntryStamp{ID: message.ID, Seq: message.Seq, At: message.At}}, nil
}

func (c *ModelConversation) page(q *agent.ListMessages) *agent.MessageList {
	total, limit := uint64(len(c.Messages)), q.Limit
	from := min(q.From, total)
	if q.Tail > 0 {
		from = total - min(q.Tail, total)
		if limit == 0 {
			limit = q.Tail
		}
	}
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	to := min(from+limit, total)
	list := &agent.MessageList{Conversation: c.ConversationRow, Items: c.Messages[from:to]}
	if to < total {
		list.Next = &to
	}
	return list
}
