package agent

// Entry is one element of a thread, as it is stored and read.
type Entry struct {
	ID      string
	Seq     uint64 // 0-based position
	At      int64  // Unix ms
	Kind    string
	Payload JSON // an object
	Refs    JSON // an object
}

// Draft is an entry as a caller hands it in. Empty fields take defaults when
// it is applied: a generated id ("entry_…"), the log's time, kind "note", "{}".
type Draft struct {
	ID      string
	At      *int64
	Kind    string
	Payload JSON
	Refs    JSON
}

// The kinds that the systems of SEMANTICS.md use. Kinds are open: any string
// up to KindBytesMax is one.
const (
	KindMessage          = "message"
	KindToolCall         = "tool_call"
	KindToolResult       = "tool_result"
	KindSignalIn         = "signal_in"
	KindSignalOut        = "signal_out"
	KindInstructionStart = "instruction_start"
	KindInstructionEnd   = "instruction_end"
	KindNote             = "note"
	KindError            = "error"
	KindCheckpoint       = "checkpoint"
	KindMessageCommitted = "message_committed" // a follow-up fact; see Resolve
	KindAnnotation       = "annotation"        // a follow-up fact; see Resolve
)

// Keys that entries' refs commonly use.
const (
	RefSignalID       = "signal_id"
	RefInstructionID  = "instruction_id"
	RefAction         = "action"
	RefAgentID        = "agent_id"
	RefParentThreadID = "parent_thread_id"
	RefEntryID        = "entry_id" // the earlier entry that a follow-up fact speaks of
)
