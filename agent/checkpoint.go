package agent

// Checkpoint is an agent's saved state.
type Checkpoint struct {
	Key         string
	Incarnation uint64
	Revision    uint64 // counts the writes to this key in its incarnation, from 1
	Version     uint64 // the caller's schema version; 1 if none was given
	State       JSON   // an object; never holds "__thread__"
	Thread      *Pointer
	Lifecycle   string // why it was saved, one of CheckpointLifecycles; "" if none was given
	Metadata    JSON   // an object
	CreatedAt   int64  // Unix ms
	UpdatedAt   int64
	ExpiresAt   int64 // Unix ms; 0 means never
}

// CheckpointRow is a checkpoint in a list or in a history.
type CheckpointRow struct {
	Key         string
	Incarnation uint64
	Revision    uint64
	Bytes       uint64
	Thread      *Pointer
	Lifecycle   string
	UpdatedAt   int64
	ExpiresAt   int64
	State       JSON // nil unless ListCheckpoints.Body asked for it
	Metadata    JSON // as State
}

// StateThreadKey is the member of a state in which frameworks keep the thread itself.
// It is removed from every checkpoint: a checkpoint never holds its thread's entries.
const StateThreadKey = "__thread__"

// Thawed is a checkpoint and the thread that it points to, both read at one log index.
type Thawed struct {
	Checkpoint Checkpoint
	Thread     *Thread // at the pointer's rev; nil without a pointer
	Entries    []Entry // the entries below the pointer's rev, or only the last of them if a tail was requested
	Ahead      uint64  // number of entries in the thread past the pointer

	// Encoded has the entries in place of Entries, if Thaw.Encoded allows it: each as a field of the
	// API's message Thawed, one after another. It must not be changed.
	Encoded []byte
}

// CheckpointLifecycles returns the reasons for saving a checkpoint: those of a
// conversation, idle, manual and fork. idle means that the agent was not in use,
// manual that a caller asked for it, and fork that it is a copy.
func CheckpointLifecycles() []string {
	return []string{
		string(LifecycleCompletion), string(LifecycleCancel), string(LifecycleError), string(LifecycleInterrupt),
		string(LifecycleTitleGenerated), string(LifecycleShutdown), "idle", "manual", "fork",
	}
}
