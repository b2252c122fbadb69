package agent

import "time"

// SetTTL says when a thread, a session or a conversation goes by itself: exactly
// one of them is named, and must be there. Nothing else changes that time: to keep
// something alive, set its ttl again, in the same commit as what keeps it
// alive. (Values, checkpoints and memories are written with a ttl of their own.)
//
// From then on it is as if it had never been there. A thread goes though a
// checkpoint points to it, whose thaw is then refused with missing_thread;
// forks keep what they share. A session goes though its turn runs, which is
// then fenced. A conversation goes with its messages.
//
// It answers with a *ThreadResult, a *SessionResult or a *ConversationResult.
type SetTTL struct {
	Thread        string
	Session       string
	Conversation  string
	TTL           time.Duration // from the commit on; 0 means that it stays
	IfIncarnation uint64
}

func (*SetTTL) isOp() {}

func (t *tally) setTTL(o *SetTTL) error {
	named := 0
	for _, name := range []string{o.Thread, o.Session, o.Conversation} {
		t.bytes += len(name)
		if name != "" {
			named++
		}
	}
	if named != 1 {
		return Invalid("thread", "a ttl is of a thread, a session or a conversation: name one of them")
	}
	return firstOf(optionalID("thread", o.Thread), optionalSession("session", o.Session),
		optionalID("conversation_id", o.Conversation), validSpan("ttl", o.TTL, TTLMax))
}
