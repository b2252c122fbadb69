package agent

// ForkAgent copies an agent in one commit. A kept revision of its checkpoint becomes
// the first revision of the new agent. The thread is cut at that revision's pointer;
// memories are copied as they are now. A session can be copied too, if it is not
// running.
//
// The new ids must be unused, or the op fails with already_exists. The fork shares the
// thread's entries with its source, which cannot be compacted past them while the fork
// exists. All else is copied, so later changes of the source, including EraseAgent, do
// not change the fork. The source's ttl and the session's queue and reviews are not
// copied. Neither are conversations: hosts find them by their own ids, and people have
// seen them as the source's.
type ForkAgent struct {
	Agent         string // the checkpoint's key, and the owner of the memories
	NewAgent      string
	NewThread     string // "" means NewAgent: Validate fills it in
	Revision      uint64 // of the checkpoint; 0 means the current one
	WithoutMemory bool   // otherwise it may have at most ForkMemoriesMax
	Session       string // "" for none; if both the session and the checkpoint have a thread, it must be the same
	NewSession    string // required if Session is given
	IfRevision    *uint64
	IfIncarnation uint64
}

// ForkedAgent is the result of ForkAgent: the new agent.
type ForkedAgent struct {
	Checkpoint CheckpointResult
	Thread     *Thread     // nil if it has none
	Session    *SessionRow // nil if none was named
	Memories   uint64      // number of copied memories
}

func (*ForkedAgent) isOpResult() {}

func (o *ForkAgent) validateOp(t *tally) error {
	if err := firstOf(
		ValidID("agent", o.Agent), ValidID("new_agent", o.NewAgent), optionalID("new_thread", o.NewThread),
		optionalSession("session", o.Session), optionalSession("new_session", o.NewSession),
	); err != nil {
		return err
	}
	switch {
	case o.Agent == o.NewAgent:
		return Invalid("new_agent", "new_agent must differ from agent: an agent cannot be a fork of itself")
	case (o.Session == "") != (o.NewSession == ""):
		return Invalid("new_session", "session and new_session go together: name both, or neither")
	case o.Session != "" && o.Session == o.NewSession:
		return Invalid("new_session", "new_session must differ from session: a session cannot be a fork of itself")
	}
	if o.NewThread == "" {
		o.NewThread = o.NewAgent
	}
	t.bytes += len(o.Agent) + len(o.NewAgent) + len(o.NewThread) + len(o.Session) + len(o.NewSession)
	return nil
}

func optionalSession(field, id string) error {
	if id == "" {
		return nil
	}
	return validSessionID(field, id)
}
