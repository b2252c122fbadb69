package cluster

import (
	"time"

	"dormouse/agent"
)

// How much is proposed, sent and kept. Raft counts entries where it should
// count bytes, so its counts are derived from bytes here.
const (
	// batchBytesMax bounds what is coalesced: past it an entry costs more in
	// copying than its share of an fsync saves.
	batchBytesMax = 512 << 10
	// batchCommitsMax bounds the commits of one entry, hence the work of one apply.
	batchCommitsMax = 1024

	// commitBytesMax is the largest encoded commit that is proposed: what the
	// door lets in, and room for what encoding adds.
	commitBytesMax = agent.CommitBytesMax + 64<<10
	// entryBytesMax is the largest log entry: one largest commit, alone, framed.
	entryBytesMax = commitBytesMax + 4<<10

	// appendBytesMax bounds one AppendEntries call, and with it what a follower
	// must hold before it answers.
	appendBytesMax = 64 << 20
	// appendEntriesMax is raft's MaxAppendEntries.
	// Invariant: appendEntriesMax * entryBytesMax <= appendBytesMax.
	appendEntriesMax = appendBytesMax / entryBytesMax

	// queueBytesMax and queueCommitsMax bound what waits to be proposed: 128
	// full batches by bytes, 16 by commits, about a quarter of a second of work.
	queueBytesMax   = 128 * batchBytesMax
	queueCommitsMax = 16 * batchCommitsMax
	// readersMax bounds the reads that wait for one barrier.
	readersMax = 1 << 16
)

// How long is waited for what.
const (
	// enqueueMax bounds the wait for raft's main loop, which may be in an fsync.
	enqueueMax = 2 * time.Second
	// commitMax bounds the wait for an entry to commit and apply; past it the
	// callers are told unknown. A leader without a quorum steps down long
	// before, so what is left is a disk that hangs.
	commitMax = 10 * time.Second
	// peerMax bounds one question to another node.
	peerMax = 2 * time.Second
)
