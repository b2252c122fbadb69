package agenttest_test

import (
	"time"

	"dormouse/agent"
)

// conversationHost implements ConversationHost with a scope.
type conversationHost struct {
	*reference
	s *scope
}

func (h conversationHost) Now() int64 { return h.now }

func (h conversationHost) Born() uint64 { return h.mint() }

func (h conversationHost) Enter(conversation string, wanted, current uint64) *agent.Error {
	return h.s.alive("conversation", conversation, wanted, current)
}

func (h conversationHost) Seal(conversation string, incarnation uint64, seal time.Duration) {
	h.s.removed("conversation", conversation, incarnation, seal)
}

func (r *reference) reviseValue(s *scope, o *agent.ReviseValue) (agent.OpResult, *agent.Error) {
	old := s.values[o.Key]
	v := agent.Value{}
	if old != nil {
		v = *old
	}
	if o.IfIncarnation != 0 && o.IfIncarnation != v.Incarnation {
		e := agent.Errorf(agent.CodeDeleted, "another incarnation")
		e.Incarnation = v.Incarnation
		return nil, e
	}
	if err := atRevision(o.IfRevision, v.Revision); err != nil {
		return nil, err
	}
	if old == nil {
		return nil, notFound("value")
	}
	if o.ContentType != "" {
		v.ContentType = o.ContentType
	}
	if o.Metadata != nil {
		before := v.Metadata
		if before == nil {
			before = agent.JSON("{}")
		}
		merged, err := agent.MergePatch(before, o.Metadata)
		if err != nil {
			return nil, agent.Invalid("metadata", "%v", err)
		}
		if len(merged) > agent.MetadataBytesMax {
			return nil, agent.TooLarge("metadata", "metadata_bytes_max", len(merged), agent.MetadataBytesMax)
		}
		v.Metadata = merged
	}
	v.Revision++
	v.UpdatedAt = r.now
	if o.To != "" {
		if there := s.values[o.To]; there != nil {
			e := agent.Errorf(agent.CodeAlreadyExists, "the key exists")
			e.Revision = there.Revision
			return nil, e
		}
		if err := s.alive("value", o.To, 0, 0); err != nil {
			return nil, err
		}
		delete(s.values, o.Key)
		v.Key, v.Incarnation, v.Revision = o.To, r.mint(), 1
	}
	s.values[v.Key] = &v
	return &agent.ValueResult{Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, nil
}
