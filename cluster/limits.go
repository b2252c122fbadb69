package cluster

import (
	"dormouse/cluster/proposer"
	"dormouse/cluster/transport"
)

// Raft counts entries where it should count bytes, so its counts are derived from
// bytes here.
const (
	// appendBytesMax bounds one AppendEntries call, and so what a follower must hold
	// before it answers.
	appendBytesMax = transport.AppendBytesMax
	// appendEntriesMax is Raft's MaxAppendEntries.
	// Invariant: appendEntriesMax * proposer.EntryBytesMax <= appendBytesMax.
	appendEntriesMax = appendBytesMax / proposer.EntryBytesMax
)
