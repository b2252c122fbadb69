package document

import (
	"dormouse/agent"
)

var ttlOps = map[string]func() wireOp{
	"set_ttl": func() wireOp { return new(setTTLOp) },
}

// TtlBody sets when a thread, a session or a conversation expires.
type TtlBody struct {
	TTLMS         uint64 `json:"ttl_ms" doc:"From this call, in log time; 0 means never"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

type setTTLOp struct {
	opName
	Thread         string `json:"thread,omitempty" doc:"Either thread, session or conversation"`
	Session        string `json:"session,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	TtlBody
}

func (o *setTTLOp) op() (agent.Op, error) {
	ttl, err := Duration("ttl_ms", o.TTLMS)
	return &agent.SetTTL{Thread: o.Thread, Session: o.Session, Conversation: o.ConversationID, TTL: ttl, IfIncarnation: o.IfIncarnation}, err
}
