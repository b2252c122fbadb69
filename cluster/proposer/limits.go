package proposer

import (
	"time"

	"dormouse/agent"
)

// How much is proposed and queued.
const (
	// BatchBytesMax bounds the commits that share an entry: past it, copying
	// costs more than a share of an fsync saves.
	BatchBytesMax = 512 << 10
	// BatchCommitsMax bounds the commits of one entry, and so the work of one apply.
	// Options.EntryCommits can only be less.
	BatchCommitsMax = 1024

	// CommitBytesMax is the largest encoded commit: the largest that request
	// validation accepts, and room for what encoding adds.
	CommitBytesMax = agent.CommitBytesMax + 64<<10
	// EntryBytesMax is the largest log entry: one commit of the largest size
	// alone, with its frame.
	EntryBytesMax = CommitBytesMax + 4<<10

	// QueueBytesMax and QueueCommitsMax bound the queue: 128 full batches by
	// bytes, 16 by commits, about a quarter of a second of work.
	QueueBytesMax   = 128 * BatchBytesMax
	QueueCommitsMax = 16 * BatchCommitsMax
	// readersMax bounds the reads that wait for one barrier.
	readersMax = 1 << 16
)

const (
	// EnqueueTimeout bounds the wait for Raft's main loop, which may be in an fsync.
	EnqueueTimeout = 2 * time.Second
	// CommitTimeout bounds the wait for an entry to be committed and applied. Then
	// its callers receive an error with code unknown. A leader without a quorum
	// steps down long before, so this covers a disk that hangs.
	CommitTimeout = 10 * time.Second
)
