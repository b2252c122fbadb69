package agent

import "time"

// SetTTL sets when a thread, a session or a conversation expires. Exactly one must be
// named, and it must exist. No other op changes that time: to keep an object, set its
// ttl again in the commits that use it. (Values, checkpoints and memories have a ttl
// in the op that writes them.)
//
// An expired object is as if it never existed. A thread expires even if a checkpoint
// points to it, whose thaw then fails with missing_thread; forks keep the entries that
// they share. A session expires even if its turn runs, which is then fenced. A
// conversation expires with its messages.
//
// The result is a *ThreadResult, a *SessionResult or a *ConversationResult.
type SetTTL struct {
	Thread        string
	Session       string
	Conversation  string
	TTL           time.Duration // from the commit; 0 means that it never expires
	IfIncarnation uint64
}

func (o *SetTTL) validateOp(t *tally) error {
	named := 0
	for _, name := range []string{o.Thread, o.Session, o.Conversation} {
		t.bytes += len(name)
		if name != "" {
			named++
		}
	}
	if named != 1 {
		return Invalid("thread", "set_ttl needs one of thread, session and conversation: name exactly one")
	}
	return firstOf(optionalID("thread", o.Thread), optionalSession("session", o.Session),
		optionalID("conversation_id", o.Conversation), validSpan("ttl", o.TTL, TTLMax))
}
