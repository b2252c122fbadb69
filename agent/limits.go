package agent

import (
	"time"

	"dormouse/internal/compactjson"
)

// Limits of tokens.
const (
	TokensMax            = 10_000   // tokens of a cluster
	TokensOfPrincipalMax = 2        // …of one principal
	TokenGrantsMax       = 64       // grants of one token
	TokenGrantScopesMax  = 64       // scopes of one grant
	TokenGrantsBytesMax  = 16 << 10 // scopes and verbs of one token together
)

// Limits of one request, which Validate checks. The limits of a scope are in its
// Policy, which is replicated.
const (
	IDBytesMax           = 512                  // an id, key, scope or client id, in bytes of UTF-8
	EntryBytesMax        = 4 << 20              // one entry: id, kind, payload, refs, content type and bytes together
	CheckpointBytesMax   = 4 << 20              // one checkpoint's state and metadata together
	ValueBytesMax        = 4 << 20              // one opaque value
	MetadataBytesMax     = 64 << 10             // the metadata of a thread or a checkpoint
	KindBytesMax         = 128                  // an entry's kind, a checkpoint's lifecycle, a content type
	CommitEntriesMax     = 1024                 // entries in one commit, over all of its ops
	CommitOpsMax         = 1024                 // ops in one commit
	CommitBytesMax       = 8 << 20              // one commit in its encoded form
	OutcomeBytesMax      = CommitBytesMax       // the results of one commit in their encoded form, which are kept for its retries
	CommitRowsBytesMax   = 64 << 20             // all rows that a commit writes, or reads and leaves as they are: a fork or a move is a small op that copies many rows
	CompactionPinsMax    = 1 << 16              // checkpoints and forks that the compactions of a commit, and of a log entry, have read when another one begins
	ReadsMax             = 128                  // reads in one request
	ReadKindsMax         = 64                   // kinds in one LoadEntries
	ListLimitDefault     = 100                  // rows of a list without a limit
	ListLimitMax         = 1000                 // rows of one page of a list
	EntriesLimitDefault  = 1000                 // entries of a load without a limit
	EntriesLimitMax      = 10_000               // entries of one page of a load
	ReadRowsMax          = 10_000               // rows that a read by time visits for one page
	ReadBytesMax         = 16 << 20             // bytes of one read's answer; a longer page ends early and names its continuation
	JSONDepthMax         = compactjson.DepthMax // nesting of a JSON payload
	HistoryMax           = 1000                 // checkpoints of one key that a policy may keep
	ForkSegmentsMax      = 64                   // depth of forks of forks
	ForkMemoriesMax      = 4096                 // memories that a fork of an agent copies
	ForkMemoryBytesMax   = 16 << 20             // …in bytes, together
	EraseRowsMax         = 1024                 // approximate rows of sessions that one log entry of an erasure removes: the last session may exceed it
	TTLMax               = 10 * 365 * 24 * time.Hour
	SealMax              = 30 * 24 * time.Hour // longest seal after a delete
	ClaimTTLDefault      = 30 * time.Second    // ttl of a claim that names none
	ClaimTTLMin          = time.Second         // holders renew every third of it, over a network and a slow disk
	ClaimTTLMax          = 24 * time.Hour
	MemoryBytesMax       = 256 << 10      // one memory: content, data, metadata, tags and embedding together
	MemoryTagsMax        = 64             // tags of one memory, and of each kind in a recall
	EmbeddingMax         = 4096           // dimensions of an embedding
	RecallLimitDefault   = 5              // memories in a recall without a limit
	QueryLimitDefault    = 20             // …in ModeQuery
	RecallLimitMax       = 1000           // memories in one recall
	RecallQueryBytesMax  = 8 << 10        // a recall's query, or the text that it filters by
	SessionSchemaMax     = 3              // highest supported schema version of sessions; the lowest is 1
	SessionSchemaClassic = 1              // schema version of sessions in classic mode
	ReviewDecidersMax    = 16             // principals who may decide one review
	RequestTTLDefault    = 24 * time.Hour // how long answers are kept, and how long a commit may take to apply
	RequestTTLMax        = 7 * 24 * time.Hour
	RequestWindowMax     = 4096                // answers kept for one client; a commit past it is overloaded
	ErasureTTL           = 90 * 24 * time.Hour // how long the receipt of an erased agent is kept
	DeletePrefixRowsMax  = 1024                // approximate rows that one log entry of a deletion by prefix removes: the last key may exceed it
	DeletionsMax         = 64                  // deletions by prefix under way in the cluster; one more that does not complete at once is overloaded
	DeletionsOfScopeMax  = 8                   // …and in one scope
	DeletionsKeptMax     = 256                 // receipts of deletions by prefix that a scope keeps
	DeletionTTL          = 7 * 24 * time.Hour  // …and how long it keeps one
	TombstoneTTL         = 48 * time.Hour      // how long a deleted id is remembered: longer than the ttl of requests that could still reach it
)

// Limits of sessions and reviews. A session's data is at most about ReadBytesMax, so
// that one read returns all of it. The oldest requests and snapshots are dropped
// first, never the newest.
const (
	SessionIDBytesMax       = IDBytesMax - len(sessionClaimPrefix)
	SessionBytesMax         = 4 << 20  // spec, metadata, environment, conversation, result and failure together
	SessionRequestBytesMax  = 1 << 20  // one request
	SessionSnapshotBytesMax = 4 << 20  // one snapshot
	SessionRevisionMax      = 1 << 52  // the revision that a put may name: it becomes that of the session, and grows with each write
	SessionRequestsMax      = 100      // requests kept of one session
	SessionSnapshotsMax     = 16       // snapshots kept of one session
	SessionKeptBytesMax     = 8 << 20  // …in bytes, together
	SessionQueueDefault     = 16       // queued claims, if the session sets no limit
	SessionQueueMax         = 64       // queued claims of one session; a claim past its own limit is overloaded
	SessionQueueBytesMax    = 2 << 20  // …in bytes, together
	SessionReviewsMax       = 64       // pending reviews of one session
	SessionReviewsKept      = 256      // reviews of one session, including decided ones
	ReviewBytesMax          = 32 << 10 // one review: arguments, metadata and reason together
)

// Limits of the feed of a scope's changes, which does not count towards the scope's
// quotas.
const (
	ChangesMaxDefault  = 100_000           // changes kept, if the policy sets none
	ChangesMaxMost     = 10_000_000        // the most that a policy may keep
	ChangesSlack       = 1024              // this many more may be kept until the next change
	ChangesTrimMax     = 64                // log entries whose changes are removed at once, besides one for each change that is added
	ChangePathBytesMax = 2*IDBytesMax + 32 // a prefix of Changed.Path
)

// Limits of conversations and files. A conversation without its messages is at most
// about ReadBytesMax.
const (
	ConversationStateMax        = 4 << 20                   // bytes of one state
	MemoriesListedMax           = 512                       // memories that one log entry adds to the list of all memories, of those written below its feature level
	ConversationsFoundMax       = 512                       // conversations that one log entry adds to the index by agent and owner, of those that are older than the index
	ConversationVersionMax      = 1 << 31                   // format version of a state
	ConversationTitleMax        = 1024                      // bytes of a title
	ConversationPendingMax      = 64                        // pending messages of one conversation; more are overloaded
	ConversationPendingBytesMax = 1 << 20                   // …in bytes, together
	MessageBytesMax             = 1 << 20                   // the content of one message
	ToolCallBytesMax            = IDBytesMax - 7            // the id of a tool call: ToolMessageID puts "result:" before it
	FilePathBytesMax            = IDBytesMax - len("file:") // a file's path
)

// Limits of timers.
const (
	CronSpecsMax        = 128                               // jobs in a manifest; each job of an instance has a timer
	CronJobBytesMax     = IDBytesMax - len(CronTimerPrefix) // id of a job; its timer's id is "cron:" and the job's
	TimersMax           = 256                               // timers of one instance; a new one past it is overloaded
	TimerDataBytesMax   = 64 << 10                          // data of a timer's signal
	TimerErrorBytesMax  = 512                               // …and of the stored error of a failed attempt
	TimerAttemptsMax    = 16                                // attempts at one occurrence: they take about half an hour
	TimerCatchUpDefault = 16                                // occurrences that MissedCatchUp fires, if the timer sets none
	TimerCatchUpMax     = 1000                              // …and the most that a timer may set
	TimerGrace          = time.Minute                       // an occurrence that has not fired for this long is missed: longer than a change of leader and owner takes
	TimerRetryFirst     = time.Second / 2                   // wait after the first failed attempt; it doubles with each
	TimerRetryMost      = 5 * time.Minute                   // …up to this
)

// Limits of managers and live instances.
const (
	ManagerNameBytesMax  = 128              // a manager's name: it is part of its instances' checkpoint keys
	ManagerSkipsMax      = 64               // top-level fields of the state that are not stored
	HandlerURLBytesMax   = 2048             // URL of an HTTP handler
	MailboxDefault       = 64               // queued signals of one instance, if its manager sets none
	MailboxMost          = 4096             // …and the most that a manager may set
	AwakeMost            = 1_000_000        // the most instances that a manager may keep awake on one node
	SignalTimeoutDefault = 30 * time.Second // time for handling one signal, if the manager sets none
	SignalTimeoutMax     = time.Hour
	AttachmentTTLDefault = time.Minute // an attachment expires if it is not touched for this long
	AttachmentTTLMin     = time.Second
	AttachmentTTLMax     = 24 * time.Hour
	SignalBytesMax       = 1 << 20  // a signal's data
	SignalReplyBytesMax  = 64 << 10 // a reply that is stored with the turn, for signals that are sent again
)
