package agent

// SessionSettings is what callers set of a session, besides its agent and its
// contents. The state machine stores it whole. A new setting needs a field here, a
// rule in CheckSettings, its size in settingsSize, and a default, if it has one, in
// SettingsWithDefaults.
type SessionSettings struct {
	Busy          BusyPolicy // "" means BusyReject
	QueueMax      uint64     // limit of queued claims, if Busy is BusyEnqueue; 0 means SessionQueueDefault
	SchemaVersion uint64     // the caller's, from 1 to NewestSchema of the mode; 0 means the newest
	Thread        string     // the thread in which decisions and rollbacks are recorded; "" for none
	Checkpoint    string     // the checkpoint that BusyRollback restores; "" for none
}

// SettingsWithDefaults returns the settings with the defaults of a session in the mode.
func (s SessionSettings) SettingsWithDefaults(mode SessionMode) SessionSettings {
	if s.Busy == "" {
		s.Busy = BusyReject
	}
	if s.QueueMax == 0 {
		s.QueueMax = SessionQueueDefault
	}
	if s.SchemaVersion == 0 {
		s.SchemaVersion = NewestSchema(mode)
	}
	return s
}

// SettingsForFork returns the settings of a session's fork, which has neither the thread nor
// the checkpoint of its source.
func (s SessionSettings) SettingsForFork() SessionSettings {
	s.Thread, s.Checkpoint = "", ""
	return s
}

// CheckSettings validates the settings of a session in a mode; "" means that the mode is not
// known yet. The state machine repeats it, because an entry may come from another
// build.
func (s SessionSettings) CheckSettings(mode SessionMode) error {
	if err := firstOf(
		optionalID("thread", s.Thread),
		optionalID("checkpoint", s.Checkpoint),
		validWord("busy", s.Busy, BusyReject, BusyEnqueue, BusyInterrupt, BusyRollback, ""),
		ValidSchema(mode, s.SchemaVersion),
	); err != nil {
		return err
	}
	if s.QueueMax > SessionQueueMax {
		return Invalid("queue_max", "queue_max = %d must be at most %d", s.QueueMax, SessionQueueMax)
	}
	return nil
}

// settingsSize returns the bytes of the settings in a commit.
func (s SessionSettings) settingsSize() int { return len(s.Thread) + len(s.Checkpoint) }
