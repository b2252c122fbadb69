package agent

// ForkAgent makes another agent of one, in one commit: its checkpoint at a
// revision that is kept, as the new agent's first; the thread that this one
// points to, cut at the pointer's rev; what the agent remembers now; and, where
// one is named, a session of it that does not run.
//
// Nothing may be under the new ids: what is there is already_exists. The fork
// shares the thread's entries with its source, which cannot be compacted past
// them while the fork stands; all else is copied, so nothing that happens to
// the source afterwards, an EraseAgent neither, changes the fork. Neither the
// source's ttl nor the session's queue and reviews go along, nor do conversations:
// hosts find these by ids of their own, and people have seen them as the source's.
type ForkAgent struct {
	Agent         string // the checkpoint's key, and whose memories they are
	NewAgent      string
	NewThread     string // "" means one by the new agent's id: Validate fills it in
	Revision      uint64 // of the checkpoint; 0 means the current one
	WithoutMemory bool   // else there may be ForkMemoriesMax of them
	Session       string // "" for none; its thread, if it has one, must be the checkpoint's, or the checkpoint have none
	NewSession    string // where Session is named
	IfRevision    *uint64
	IfIncarnation uint64
}

func (*ForkAgent) isOp() {}

// ForkedAgent answers ForkAgent: the new agent.
type ForkedAgent struct {
	Checkpoint CheckpointResult
	Thread     *Thread     // nil where it has none
	Session    *SessionRow // nil where none was named
	Memories   uint64      // that were copied
}

func (*ForkedAgent) isOpResult() {}

func (t *tally) forkAgent(o *ForkAgent) error {
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
	return ValidSessionID(field, id)
}
