package agent

// Checkpoint is an agent's saved state at a moment.
type Checkpoint struct {
	Key         string
	Incarnation uint64
	Revision    uint64 // counts the writes to this key in its incarnation, from 1
	Version     uint64 // the caller's schema version; 1 where none was given
	State       JSON   // an object; never holds "__thread__"
	Thread      *Pointer
	Lifecycle   string // why it was saved, one of CheckpointLifecycles; "" where nobody said
	Metadata    JSON   // an object
	CreatedAt   int64  // Unix ms
	UpdatedAt   int64
	ExpiresAt   int64 // Unix ms; 0 means never
}

// CheckpointRow is a checkpoint without its state, as lists and histories show it.
type CheckpointRow struct {
	Key         string
	Incarnation uint64
	Revision    uint64
	Bytes       uint64
	Thread      *Pointer
	Lifecycle   string
	UpdatedAt   int64
	ExpiresAt   int64
}

// StateThreadKey is the member of a state that would hold the journal itself.
// It is stripped from every checkpoint: the thread body never enters one.
const StateThreadKey = "__thread__"

// Thawed is a checkpoint and the thread that it points to, read at one index.
type Thawed struct {
	Checkpoint Checkpoint
	Thread     *Thread // as of the pointer's rev; nil without a pointer
	Entries    []Entry // the entries below the pointer's rev, or the last of them where a tail was asked for
	Ahead      uint64  // entries the journal has past the pointer
}

// CheckpointLifecycles are the reasons for which a checkpoint is saved: those of a
// conversation, and idle (nobody needed the agent), manual (somebody asked for it)
// and fork (it was copied).
func CheckpointLifecycles() []string {
	return []string{
		string(LifecycleCompletion), string(LifecycleCancel), string(LifecycleError), string(LifecycleInterrupt),
		string(LifecycleTitleGenerated), string(LifecycleShutdown), "idle", "manual", "fork",
	}
}
