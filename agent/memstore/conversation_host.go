package memstore

import (
	"time"

	"dormouse/agent"
)

// conversationHost implements ConversationHost with a scope.
type conversationHost struct {
	*Store
	s *scope
}

func (h conversationHost) Now() int64 { return h.s.now }

func (h conversationHost) Born() uint64 { return h.newIncarnation() }

func (h conversationHost) Enter(conversation string, wanted, current uint64) *agent.Error {
	return h.s.alive("conversation", conversation, wanted, current)
}

func (h conversationHost) Seal(conversation string, incarnation uint64, seal time.Duration) {
	h.s.removed("conversation", conversation, incarnation, seal)
}
