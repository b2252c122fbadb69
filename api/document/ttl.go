package document

import (
	"dormouse/agent"
)

// TtlBody says when a thread, a session or a conversation goes by itself.
type TtlBody struct {
	TTLMS         uint64 `json:"ttl_ms" doc:"From this call on, in log time; 0 means never"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

type setTTLOp struct {
	opName
	Thread         string `json:"thread,omitempty" doc:"This, the session, or the conversation"`
	Session        string `json:"session,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	TtlBody
}

func (o *setTTLOp) op() (agent.Op, error) {
	ttl, err := Duration("ttl_ms", o.TTLMS)
	return &agent.SetTTL{Thread: o.Thread, Session: o.Session, Conversation: o.ConversationID, TTL: ttl, IfIncarnation: o.IfIncarnation}, err
}
