package document

import (
	"time"

	"dormouse/agent"
)

var ttlOps = map[string]func() wireOp{
	"set_ttl": func() wireOp { return new(setTTLOp) },
}

// TtlBody sets when a thread, a session or a conversation expires.
type TtlBody struct {
	TTLMS         *uint64 `json:"ttl_ms" nullable:"false" doc:"From this call, in log time; 0 means never"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

// TTL returns the time that the body sets. It has no default: a body without it would remove the deadline.
func (b *TtlBody) TTL() (time.Duration, error) {
	if b.TTLMS == nil {
		return 0, agent.Invalid("ttl_ms", "ttl_ms is missing: give it in ms, or 0 for no deadline")
	}
	return Duration("ttl_ms", *b.TTLMS)
}

type setTTLOp struct {
	opName
	Thread         string `json:"thread,omitempty" doc:"Either thread, session or conversation"`
	Session        string `json:"session,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	TtlBody
}

func (o *setTTLOp) op() (agent.Op, error) {
	ttl, err := o.TTL()
	return &agent.SetTTL{Thread: o.Thread, Session: o.Session, Conversation: o.ConversationID, TTL: ttl, IfIncarnation: o.IfIncarnation}, err
}
