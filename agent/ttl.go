package agent

import "time"

// SetTTL says when a thread or a session goes by itself: exactly one of the
// two is named, and must be there. Nothing else changes that time: to keep
// something alive, set its ttl again, in the same commit as what keeps it
// alive. (Values, checkpoints and memories are written with a ttl of their own.)
//
// From then on it is as if it had never been there. A thread goes though a
// checkpoint points to it, whose thaw is then refused with missing_thread;
// forks keep what they share. A session goes though its turn runs, which is
// then fenced.
//
// It answers with a *ThreadResult or a *SessionResult.
type SetTTL struct {
	Thread        string
	Session       string
	TTL           time.Duration // from the commit on; 0 means that it stays
	IfIncarnation uint64
}

func (*SetTTL) isOp() {}

func (t *tally) setTTL(o *SetTTL) error {
	t.bytes += len(o.Thread) + len(o.Session)
	if (o.Thread == "") == (o.Session == "") {
		return Invalid("thread", "a ttl is of a thread or of a session: name one of the two")
	}
	return firstOf(optionalID("thread", o.Thread), optionalSession("session", o.Session), validSpan("ttl", o.TTL, TTLMax))
}
