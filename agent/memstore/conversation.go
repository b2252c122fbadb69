package memstore

import (
	"maps"
	"slices"
	"time"

	"dormouse/agent"
)

// ConversationModel is a simple model of conversations, for services in memory and to
// compare the state machine with. It knows no rows and no limits.
type ConversationModel map[string]*ModelConversation

// ModelConversation is a conversation with its messages. It is immutable: a change
// replaces it.
type ModelConversation struct {
	agent.SavedConversation
	Messages []agent.Message
	pended   uint64
}

// ConversationHost is what the model needs from its scope.
type ConversationHost interface {
	Now() int64                                                     // Unix ms, the time of the commit
	Born() uint64                                                   // returns the incarnation of a new conversation
	Enter(conversation string, wanted, current uint64) *agent.Error // refuses a sealed id, or another incarnation
	Seal(conversation string, incarnation uint64, seal time.Duration)
}

// Bytes returns the bytes that all conversations hold.
func (m ConversationModel) Bytes() (bytes uint64) {
	for _, c := range m {
		bytes += uint64(len(c.State))
		for _, p := range c.Pending {
			bytes += uint64(len(p.Message))
		}
		for _, message := range c.Messages {
			bytes += uint64(len(message.Type) + len(message.ToolCall) + len(message.Content))
			if _, _, generated := agent.GeneratedMessageID(message.ID); !generated {
				bytes += uint64(len(message.ID))
			}
		}
	}
	return bytes
}

// Apply applies an op on a conversation; ok is false for any other op.
func (m ConversationModel) Apply(h ConversationHost, op agent.Op) (result agent.OpResult, e *agent.Error, ok bool) {
	m.Expire(h.Now())
	switch o := op.(type) {
	case *agent.SetTTL:
		if o.Conversation == "" {
			return nil, nil, false
		}
		result, e = m.change(h, &agent.ConversationRef{ID: o.Conversation, IfIncarnation: o.IfIncarnation}, false,
			func(c *ModelConversation) (agent.OpResult, *agent.Error) {
				c.ExpiresAt = 0
				if o.TTL > 0 {
					c.ExpiresAt = h.Now() + o.TTL.Milliseconds()
				}
				return &agent.ConversationResult{}, nil
			})
	case *agent.SaveConversation:
		result, e = m.change(h, &o.ConversationRef, true, func(c *ModelConversation) (agent.OpResult, *agent.Error) { return c.save(h, o) })
	case *agent.SetInterrupted:
		result, e = m.change(h, &o.ConversationRef, false, func(c *ModelConversation) (agent.OpResult, *agent.Error) {
			c.Interrupted = o.Interrupted
			return &agent.ConversationResult{}, nil
		})
	case *agent.PendMessage:
		result, e = m.change(h, &o.ConversationRef, true, func(c *ModelConversation) (agent.OpResult, *agent.Error) { return c.pend(h, o) })
	case *agent.SaveMessages:
		result, e = m.change(h, &o.ConversationRef, true, func(c *ModelConversation) (agent.OpResult, *agent.Error) { return c.add(h, o) })
	case *agent.UpdateMessage:
		result, e = m.update(h, o)
	case *agent.DeleteConversation:
		result, e = m.delete(h, o)
	default:
		return nil, nil, false
	}
	return result, e, true
}

// Expire removes conversations that expire by now, in Unix ms.
func (m ConversationModel) Expire(now int64) {
	maps.DeleteFunc(m, func(_ string, c *ModelConversation) bool { return c.ExpiresAt != 0 && c.ExpiresAt <= now })
}

// unchanged is the result of an op that changes nothing.
type unchanged struct{ agent.ConversationResult }

// change calls work with a copy of a conversation, and stores the copy if work
// succeeds.
func (m ConversationModel) change(
	h ConversationHost, ref *agent.ConversationRef, creates bool, work func(*ModelConversation) (agent.OpResult, *agent.Error),
) (agent.OpResult, *agent.Error) {
	c := &ModelConversation{}
	if old := m[ref.ID]; old != nil {
		*c = *old
	}
	if e := c.belongs(ref); e != nil {
		return nil, e
	}
	if e := h.Enter(ref.ID, ref.IfIncarnation, c.Incarnation); e != nil {
		return nil, e
	}
	if c.Incarnation == 0 && !creates {
		return nil, agent.Errorf(agent.CodeNotFound, "no conversation %q", ref.ID)
	}
	result, e := work(c)
	if e != nil {
		return nil, e
	}
	if same, ok := result.(*unchanged); ok {
		return &same.ConversationResult, nil
	}
	if c.Incarnation == 0 {
		c.ID, c.Incarnation, c.CreatedAt = ref.ID, h.Born(), h.Now()
		for i := range c.Messages {
			c.Messages[i].ID = named(c, &c.Messages[i])
		}
	}
	c.touch(h, ref)
	m[ref.ID] = c
	if r, ok := result.(*agent.ConversationResult); ok {
		r.Conversation = c.ConversationRow
		for i := range r.Messages {
			r.Messages[i].ID = c.Messages[r.Messages[i].Seq].ID
		}
	}
	return result, nil
}

func (c *ModelConversation) touch(h ConversationHost, ref *agent.ConversationRef) {
	if ref.Agent != "" {
		c.Agent = ref.Agent
	}
	if ref.Owner != "" {
		c.Owner = ref.Owner
	}
	c.MessageCount, c.PendingCount, c.UpdatedAt = uint64(len(c.Messages)), uint64(len(c.Pending)), h.Now()
}

func (c *ModelConversation) belongs(ref *agent.ConversationRef) *agent.Error {
	if ref.Agent != "" && c.Agent != "" && ref.Agent != c.Agent || ref.Owner != "" && c.Owner != "" && ref.Owner != c.Owner {
		return agent.Errorf(agent.CodeForbidden, "conversation %q has another agent or owner", ref.ID)
	}
	return nil
}

func (c *ModelConversation) save(h ConversationHost, o *agent.SaveConversation) (agent.OpResult, *agent.Error) {
	version, err := agent.StateVersion(o.State)
	if err != nil {
		return nil, agent.Invalid("state", "%v", err)
	}
	if c.Revision > 0 && c.Revision == o.Revision+1 && c.Lifecycle == o.Lifecycle && string(c.State) == string(o.State) &&
		(o.Title == "" || o.Title == c.Title) && o.Consumed <= c.Consumed {
		return &unchanged{agent.ConversationResult{Conversation: c.ConversationRow}}, nil
	}
	if c.Revision != o.Revision {
		e := agent.Errorf(agent.CodeRevisionMismatch, "at revision %d", c.Revision)
		e.Revision = c.Revision
		return nil, e
	}
	if o.Consumed > c.pended {
		return nil, agent.Invalid("consumed", "higher than any pending message")
	}
	c.Revision++
	c.State, c.Version, c.Lifecycle, c.SavedAt = o.State, version, o.Lifecycle, h.Now()
	switch o.Lifecycle {
	case agent.LifecycleInterrupt:
		c.Interrupted = true
	case agent.LifecycleCompletion, agent.LifecycleCancel, agent.LifecycleError:
		c.Interrupted = false
	case agent.LifecycleTitleGenerated, agent.LifecycleShutdown:
	}
	if o.Title != "" {
		c.Title = o.Title
	}
	c.Consumed = max(c.Consumed, o.Consumed)
	c.Pending = slices.DeleteFunc(slices.Clone(c.Pending), func(p agent.PendingMessage) bool { return p.Number <= o.Consumed })
	return &agent.ConversationResult{}, nil
}

func (m ConversationModel) delete(h ConversationHost, o *agent.DeleteConversation) (agent.OpResult, *agent.Error) {
	c := &ModelConversation{}
	if old := m[o.ID]; old != nil {
		c = old
	}
	if e := c.belongs(&o.ConversationRef); e != nil {
		return nil, e
	}
	if c.Incarnation != 0 || o.IfIncarnation != 0 {
		if e := h.Enter(o.ID, o.IfIncarnation, c.Incarnation); e != nil {
			return nil, e
		}
	}
	if o.IfRevision != nil && *o.IfRevision != c.Revision {
		e := agent.Errorf(agent.CodeRevisionMismatch, "at revision %d", c.Revision)
		e.Revision = c.Revision
		return nil, e
	}
	delete(m, o.ID)
	h.Seal(o.ID, c.Incarnation, o.Seal)
	return &agent.DeleteResult{Existed: c.Incarnation != 0, Incarnation: c.Incarnation}, nil
}

// Read answers a read of conversations; ok is false for any other read.
func (m ConversationModel) Read(read agent.Read) (found agent.Found, e *agent.Error, ok bool) {
	switch q := read.(type) {
	case *agent.GetConversation:
		c, e := m.open(&q.ConversationRef)
		if e != nil {
			return nil, e, true
		}
		return &c.SavedConversation, nil, true
	case *agent.ListConversations:
		return m.list(q), nil, true
	case *agent.ListMessages:
		c, e := m.open(&q.ConversationRef)
		if e != nil {
			return nil, e, true
		}
		return c.page(q), nil, true
	default:
		return nil, nil, false
	}
}

func (m ConversationModel) open(ref *agent.ConversationRef) (*ModelConversation, *agent.Error) {
	c := m[ref.ID]
	if c == nil {
		return nil, agent.Errorf(agent.CodeNotFound, "no conversation %q", ref.ID)
	}
	if e := c.belongs(ref); e != nil {
		return nil, e
	}
	if ref.IfIncarnation != 0 && ref.IfIncarnation != c.Incarnation {
		return nil, agent.Errorf(agent.CodeDeleted, "another incarnation")
	}
	return c, nil
}

func (m ConversationModel) list(q *agent.ListConversations) *agent.ConversationList {
	selected := map[string]agent.ConversationRow{}
	for id, c := range m {
		if (!q.Interrupted || c.Interrupted) && (q.Agent == "" || q.Agent == c.Agent) && (q.Owner == "" || q.Owner == c.Owner) {
			selected[id] = c.ConversationRow
		}
	}
	ids, next := sortedAt(selected, q.Page, func(c agent.ConversationRow) int64 { return c.UpdatedAt }, nil, nil)
	list := &agent.ConversationList{Next: next}
	for _, id := range ids {
		list.Items = append(list.Items, selected[id])
	}
	return list
}
