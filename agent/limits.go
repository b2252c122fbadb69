package agent

import "time"

// Limits at the door. They bound one caller's request; what bounds a scope is
// its Policy, which is replicated.
const (
	IDBytesMax           = 512      // an id, key, scope or client id, in bytes of UTF-8
	EntryBytesMax        = 1 << 20  // one entry: id, kind, payload and refs together
	CheckpointBytesMax   = 4 << 20  // one checkpoint's state and metadata together
	ValueBytesMax        = 4 << 20  // one opaque value
	MetadataBytesMax     = 64 << 10 // the metadata of a thread or a checkpoint
	KindBytesMax         = 128      // an entry's kind, a checkpoint's lifecycle, a content type
	CommitEntriesMax     = 1024     // entries in one commit, over all of its ops
	CommitOpsMax         = 1024     // ops in one commit
	CommitBytesMax       = 8 << 20  // one encoded commit
	CommitRowsBytesMax   = 64 << 20 // what a commit writes in the end: a fork or a move is a few bytes, and copies much
	ReadsMax             = 128      // reads in one request
	ReadKindsMax         = 64       // kinds that one load names
	ListLimitDefault     = 100      // rows a list gives where no limit is named
	ListLimitMax         = 1000     // rows a list ever gives at once
	EntriesLimitDefault  = 1000     // entries a load gives where no limit is named
	EntriesLimitMax      = 10_000   // entries a load ever gives at once
	ReadBytesMax         = 16 << 20 // bytes one read answers with; past it the page ends early and says where to go on
	JSONDepthMax         = 128      // nesting of a JSON payload
	HistoryMax           = 1000     // checkpoints of one key that a policy may keep
	ForkSegmentsMax      = 64       // forks of forks of …
	ForkMemoriesMax      = 4096     // memories that a fork of an agent copies
	ForkMemoryBytesMax   = 16 << 20 // …all of these together
	EraseRowsMax         = 1024     // rows that erasing an agent removes in one log entry for its sessions, about: the last session may go past it
	TTLMax               = 10 * 365 * 24 * time.Hour
	SealMax              = 30 * 24 * time.Hour // longest seal after a delete
	ClaimTTLDefault      = 30 * time.Second    // a claim's, where none is named
	ClaimTTLMin          = time.Second         // holders renew every third of it, over a network and a slow disk
	ClaimTTLMax          = 24 * time.Hour
	NodeLeaseTTLMin      = 500 * time.Millisecond // of a node's lease, which is renewed every third of it
	NodeLeaseTTLMax      = 10 * time.Minute
	MemoryBytesMax       = 256 << 10      // one memory: content, data, metadata, tags and embedding together
	MemoryTagsMax        = 64             // tags of one memory, and of each kind in a recall
	EmbeddingMax         = 4096           // numbers in an embedding
	RecallLimitDefault   = 5              // memories that a recall gives where no limit is named
	QueryLimitDefault    = 20             // …in ModeQuery
	RecallLimitMax       = 1000           // memories that a recall ever gives
	RecallQueryBytesMax  = 8 << 10        // a recall's query, or the text that it filters by
	SessionSchemaMax     = 3              // schema version of a session that is understood; those from 1 on are
	SessionSchemaClassic = 1              // the one of sessions in classic mode
	RequestTTLDefault    = 24 * time.Hour // how long answers are remembered, and how long a commit may take to apply
	RequestTTLMax        = 7 * 24 * time.Hour
	RequestWindowMax     = 4096                // answers remembered for one client; past it a commit is refused as overloaded
	ErasureTTL           = 90 * 24 * time.Hour // how long the receipt of an erased agent is kept
	TombstoneTTL         = 48 * time.Hour      // a deleted id is remembered this long: longer than the request ids that could still reach it
)

// Limits of sessions and reviews. What a session has at once is at most about
// ReadBytesMax, so that one read answers with all of it. Of requests and
// snapshots the oldest go first, never the newest.
const (
	PlacementEventsMax      = 1024   // changes of owners that the trail keeps
	HostsMax                = 256    // members that keep instances and no data
	HostWeightMax           = 10_000 // the share that a host may ask for; 100 is the usual
	LeaseHandlersMax        = 256    // Go handlers of one process that keeps instances
	PlacementWhyBytesMax    = 512    // why a partition was moved
	SessionIDBytesMax       = IDBytesMax - len(sessionClaimPrefix)
	SessionBytesMax         = 4 << 20  // spec, metadata, environment, conversation, result and failure together
	SessionRequestBytesMax  = 1 << 20  // one request
	SessionSnapshotBytesMax = 4 << 20  // one snapshot
	SessionRequestsMax      = 100      // requests kept of one session
	SessionSnapshotsMax     = 16       // snapshots kept of one session
	SessionKeptBytesMax     = 8 << 20  // …all of these together
	SessionQueueDefault     = 16       // claims that wait, where the session does not say
	SessionQueueMax         = 64       // claims that ever wait for one session; past its own number a claim is overloaded
	SessionQueueBytesMax    = 2 << 20  // …all of these together
	SessionReviewsMax       = 64       // pending reviews of one session
	SessionReviewsKept      = 256      // reviews of one session, with those that were decided
	ReviewBytesMax          = 32 << 10 // one review: arguments, metadata and reason together
)

// Limits of the feed of a scope's changes. It is kept beside what the scope
// holds, and counts for nothing in its quotas.
const (
	ChangesMaxDefault  = 100_000           // changes kept, where the policy does not say
	ChangesMaxMost     = 10_000_000        // the most that a policy may say
	ChangesSlack       = 1024              // past what is kept, this many more may stay until the next are made
	ChangesTrimMax     = 64                // log entries whose changes go at once
	ChangePathBytesMax = 2*IDBytesMax + 32 // a prefix of Changed.Path
)

// Limits of conversations and files. What a conversation has beside its
// messages is at most about ReadBytesMax.
const (
	ConversationStateMax        = 4 << 20                   // bytes of one state
	MemoriesListedMax           = 512                       // memories from below the feature level of the list of all memories: one log entry adds so many to it
	ConversationsFoundMax       = 512                       // of those from before there was an index by agent and owner: put in it by one log entry
	ConversationVersionMax      = 1 << 31                   // of a state's format
	ConversationTitleMax        = 1024                      // bytes of a title
	ConversationPendingMax      = 64                        // messages that wait for one agent; past it they are refused as overloaded
	ConversationPendingBytesMax = 1 << 20                   // …all of these together
	MessageBytesMax             = 1 << 20                   // the content of one message
	ToolCallBytesMax            = IDBytesMax - 7            // the id of a tool call: ToolMessageID puts "result:" before it
	FilePathBytesMax            = IDBytesMax - len("file:") // a file's path
)

// Limits of timers.
const (
	CronSpecsMax        = 128                               // jobs in a manifest: each of an instance's has a timer
	CronJobBytesMax     = IDBytesMax - len(CronTimerPrefix) // a job's id: its timer's is "cron:" and that
	TimersMax           = 256                               // timers of one instance; past it a new one is overloaded
	TimerDataBytesMax   = 64 << 10                          // the data of a timer's signal
	TimerErrorBytesMax  = 512                               // …and of what is kept of an attempt that failed
	TimerAttemptsMax    = 16                                // attempts at one occurrence: they take about half an hour
	TimerCatchUpDefault = 16                                // occurrences that MissedCatchUp fires, where the timer does not say
	TimerCatchUpMax     = 1000                              // …and the most that it may say
	TimerGrace          = time.Minute                       // an occurrence that nobody fired for so long is missed: longer than a change of leader and owner takes
	TimerRetryFirst     = time.Second / 2                   // after the first attempt that failed; twice as long after each
	TimerRetryMost      = 5 * time.Minute                   // …up to this
)

// Limits of managers and live instances.
const (
	ManagerNameBytesMax  = 128              // a manager's name: it is part of its instances' checkpoint keys
	ManagerSkipsMax      = 64               // fields of the state that are not stored
	HandlerURLBytesMax   = 2048             // where an HTTP handler is
	MailboxDefault       = 64               // signals that wait for one instance, where its manager does not say
	MailboxMost          = 4096             // …and the most that a manager may say
	AwakeMost            = 1_000_000        // the most instances that a manager may keep awake on one node
	SignalTimeoutDefault = 30 * time.Second // what a handler is given for a signal, where its manager does not say
	SignalTimeoutMax     = time.Hour
	AttachmentTTLDefault = time.Minute // without a touch an attachment lapses
	AttachmentTTLMin     = time.Second
	AttachmentTTLMax     = 24 * time.Hour
	SignalBytesMax       = 1 << 20  // a signal's data
	SignalReplyBytesMax  = 64 << 10 // a reply that is kept with the turn, for whoever sends the signal again
)
