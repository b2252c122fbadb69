// Package seededbug plants known bugs in the product, to prove that the fault harness
// finds them. Each bug is a guarded line next to the correct rule:
//
//	if seededbug.Is(seededbug.SealIgnored) { … }
//
// Only a build with the tag "seeded" can have a bug: the one that the environment
// variable DORMOUSE_SEEDED_BUG names. In other builds Is is a constant false, so that
// the compiler removes the guarded lines.
//
// Package jepsen/seeded says which workload finds each bug, and how fast.
package seededbug

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bug is the name of a seeded bug, as in the environment variable.
type Bug string

// Variable is the environment variable that names the bug.
const Variable = "DORMOUSE_SEEDED_BUG"

// Reads that may be older than what was acknowledged before them.
const (
	FollowerLocalRead     Bug = "follower-local-read"
	LeaderLocalRead       Bug = "leader-local-read"
	VerifyLeaderRead      Bug = "verify-leader-read"
	NewLeaderServesEarly  Bug = "new-leader-serves-early"
	ReadDoesNotWait       Bug = "read-does-not-wait"
	BarrierJoinsSentRound Bug = "barrier-joins-sent-round"
	RoundJoinedLate       Bug = "round-joined-late"
	NonVotersConfirm      Bug = "non-voters-confirm"
	AnyTermConfirms       Bug = "any-term-confirms"
	StaleThaw             Bug = "stale-thaw"
	ThawPastPointer       Bug = "thaw-past-pointer"
)

// Data that is taken to be on a majority of disks or nodes, and is not.
const (
	NoFsync              Bug = "no-fsync"
	FsyncAfterAck        Bug = "fsync-after-ack"
	AckedBeforeCommit    Bug = "acked-before-commit"
	UnwrittenEntryCounts Bug = "unwritten-entry-counts"
	TailLossAccepted     Bug = "tail-loss-accepted"
	UnheardIsRemoved     Bug = "unheard-is-removed"
	UnguardedHeartbeat   Bug = "unguarded-heartbeat"
	NoSnapshotTerm       Bug = "no-snapshot-term"
)

// Snapshots that differ from the state at their index.
const (
	SnapshotRunsAhead     Bug = "snapshot-runs-ahead"
	DedupeLostInSnapshot  Bug = "dedupe-lost-in-snapshot"
	ReviewsLostInSnapshot Bug = "reviews-lost-in-snapshot"
	CacheOutlivesInstall  Bug = "cache-outlives-install"
	DueOutlivesInstall    Bug = "due-outlives-install"
)

// Violations of the state machine's rules.
const (
	NoDedupe              Bug = "no-dedupe"
	MapOrder              Bug = "map-order"
	HalfACommitApplied    Bug = "half-a-commit-applied"
	HalfACommitVisible    Bug = "half-a-commit-visible"
	RevCheckedEarly       Bug = "rev-checked-early"
	RevisionCheckedEarly  Bug = "revision-checked-early"
	PatchedEarly          Bug = "patched-early"
	LateWriteResurrects   Bug = "late-write-resurrects"
	SealIgnored           Bug = "seal-ignored"
	QuotaCheckedEarly     Bug = "quota-checked-early"
	CompactionForgetsRev  Bug = "compaction-forgets-rev"
	CompactionPastPointer Bug = "compaction-past-pointer"
	DuplicateEntryIDs     Bug = "duplicate-entry-ids"
	WatchWokenEarly       Bug = "watch-woken-early"
	WatchFollowsNewLife   Bug = "watch-follows-new-life"
	RefusedAtQuotaStays   Bug = "refused-at-quota-stays"
	FeedTellsOfRefused    Bug = "feed-tells-of-refused"
	IndexMissesDeletes    Bug = "index-misses-deletes"
	RecallMissesDeletes   Bug = "recall-misses-deletes"
)

// Tokens that outlive their revocation.
const (
	RevokedTokenCommits Bug = "revoked-token-commits"
	RevokedTokenReads   Bug = "revoked-token-reads"
)

// Claims with two holders.
const (
	NoFenceCheck      Bug = "no-fence-check"
	FenceCheckedEarly Bug = "fence-checked-early"
	EpochReused       Bug = "epoch-reused"
	WallClockTicks    Bug = "wall-clock-ticks"
	FenceCheckedOnce  Bug = "fence-checked-once"
)

// Turns, reviews and forks that break their rules.
const (
	StaleLeaseActs      Bug = "stale-lease-acts"
	ReviewDecidedTwice  Bug = "review-decided-twice"
	ReviewExpiresByNode Bug = "review-expires-by-node"
	ForkIgnoresRev      Bug = "fork-ignores-rev"
	CompactionPastFork  Bug = "compaction-past-fork"
	ForkOfForkUnpinned  Bug = "fork-of-fork-unpinned"
	ErasedIsRead        Bug = "erased-is-read"
	ErasedLivesOn       Bug = "erased-lives-on"
)

// Instances with two owners, and signals and timers that are handled more than once.
const (
	SignalHandledTwice Bug = "signal-handled-twice"
	LapsedLeaseAnswers Bug = "lapsed-lease-answers"
	TimerAckedEarly    Bug = "timer-acked-early"
	NoPartitionFence   Bug = "no-partition-fence"
	UnappliedTurnStays Bug = "unapplied-turn-stays"
	MutationNotResumed Bug = "mutation-not-resumed"
	LookupSkipsEpoch   Bug = "lookup-skips-epoch"
	WallClockLease     Bug = "wall-clock-lease"
	TimerKeepsItsPlace Bug = "timer-keeps-its-place"
	OldTimerIsAcked    Bug = "old-timer-is-acked"
)

// Confused outcomes, in the nodes and in the client.
const (
	UnknownAsRefused        Bug = "unknown-as-refused"
	TimeoutAsRefused        Bug = "timeout-as-refused"
	RetryWithFreshID        Bug = "retry-with-fresh-id"
	WatchSkipsOnReconnect   Bug = "watch-skips-on-reconnect"
	WatchRepeatsOnReconnect Bug = "watch-repeats-on-reconnect"
	HTTP200ForUnknown       Bug = "http-200-for-unknown"
	HTTPTimeoutAsRefused    Bug = "http-timeout-as-refused"
)

// about describes what each bug does.
var about = map[Bug]string{
	FollowerLocalRead:     "a follower answers reads from its own state, without asking the leader",
	LeaderLocalRead:       "a leader answers reads from its own state, although it may have been replaced",
	VerifyLeaderRead:      "Raft's VerifyLeader replaces the barrier",
	NewLeaderServesEarly:  "a new leader answers reads before it has applied the entries of earlier leaders",
	ReadDoesNotWait:       "a read does not wait until its read index is applied",
	RoundJoinedLate:       "a read uses a read-index round that the leader sent before the read began",
	NonVotersConfirm:      "non-voters count in the leader's read-index confirmation",
	AnyTermConfirms:       "a leader takes a voter's answer as confirmation in any term",
	BarrierJoinsSentRound: "a read uses a barrier that was sent before the read began",
	StaleThaw:             "a thaw skips the barrier",
	ThawPastPointer:       "a thaw reads the thread's current entries, not those at the checkpoint's pointer",

	NoFsync:              "log and votes are never synced",
	FsyncAfterAck:        "an entry counts as stored before it is written",
	AckedBeforeCommit:    "a follower that does not answer in time counts as having stored the entry",
	UnwrittenEntryCounts: "a leader counts an entry as its own that it has sent and not written",
	TailLossAccepted:     "a node whose log lost acknowledged entries votes",
	UnheardIsRemoved:     "a member that does not answer the leader is removed from the cluster",
	UnguardedHeartbeat:   "heartbeats raise the term while a leader is acting in it (hashicorp/raft#695)",
	NoSnapshotTerm:       "a log entry of another term blocks a snapshot (hashicorp/raft#697)",

	SnapshotRunsAhead:     "a snapshot's index is one too high",
	DedupeLostInSnapshot:  "snapshots do not contain the stored answers",
	ReviewsLostInSnapshot: "snapshots do not contain the reviews",
	CacheOutlivesInstall:  "the cache of apply keeps its rows when a snapshot is installed",
	DueOutlivesInstall:    "the times at which rows fall due are lost when a snapshot is installed",

	NoDedupe:              "a request that is sent again applies again",
	MapOrder:              "incarnations depend on the order of a map",
	HalfACommitApplied:    "a refused commit keeps the ops before the refused one",
	HalfACommitVisible:    "checkpoints can be read before the rest of their commit",
	RevCheckedEarly:       "expected_rev is checked against the state at proposal time",
	RevisionCheckedEarly:  "if_revision is checked against the state at proposal time",
	PatchedEarly:          "a patch is merged with the state at proposal time",
	LateWriteResurrects:   "a write to a deleted incarnation creates a new one",
	SealIgnored:           "a sealed id can be written to",
	QuotaCheckedEarly:     "a scope's quota is checked before the ops of a commit, not after them",
	CompactionForgetsRev:  "a compacted thread counts only its remaining entries",
	CompactionPastPointer: "compaction removes entries that a checkpoint points to",
	DuplicateEntryIDs:     "an entry with an id that is in the thread is appended again",
	WatchWokenEarly:       "watchers are woken before new entries can be read",
	WatchFollowsNewLife:   "a watch continues in the next incarnation of its thread",
	RefusedAtQuotaStays:   "a commit that the quota refuses is not rolled back",
	FeedTellsOfRefused:    "the feed of changes tells of refused commits",
	RevokedTokenCommits:   "the state machine does not check the token of a commit: only the node that gets the call does",
	RevokedTokenReads:     "a node checks the token of a read before it knows the read's index, and not after it",
	IndexMissesDeletes:    "the index of metadata keeps deleted rows",
	RecallMissesDeletes:   "the index of memories misses a delete, and is labelled as if it had it",

	NoFenceCheck:      "fences are not checked",
	FenceCheckedEarly: "a fence is checked against the claim at proposal time",
	EpochReused:       "a claim that was released begins again with its first epoch",
	WallClockTicks:    "claims and requests expire by the leader's wall clock",
	FenceCheckedOnce:  "a fence is checked for the first of a log entry's commits only",

	StaleLeaseActs:      "a session's calls are accepted under any of its earlier leases",
	ReviewDecidedTwice:  "a decided review can be decided again",
	ReviewExpiresByNode: "a review expires by the clock of the node that applies the answer",
	ForkIgnoresRev:      "a fork shares all entries, whatever rev it names",
	CompactionPastFork:  "compaction removes entries that a fork shares",
	ForkOfForkUnpinned:  "a fork of a fork keeps no pin on the thread to which its entries were appended",
	ErasedIsRead:        "sessions of an erased agent can be read until their rows are removed",
	ErasedLivesOn:       "an erasure is complete before the owner has ended the live instance",

	SignalHandledTwice: "a signal that is sent again is handled again",
	LapsedLeaseAnswers: "a node answers for its instances after its lease has lapsed",
	TimerAckedEarly:    "a timer's occurrence is acknowledged before its turn",
	MutationNotResumed: "a pod does not continue a mutation whose caller has gone",
	LookupSkipsEpoch:   "a lookup finds an instance in memory although its partition may have another owner",
	WallClockLease:     "node leases expire by the log's wall time",
	TimerKeepsItsPlace: "a timer that is set again stays in the index of due timers",
	OldTimerIsAcked:    "the acknowledgement of an occurrence also acknowledges a timer that has replaced its timer",
	UnappliedTurnStays: "a Go handler keeps its state in memory although its turn was not applied",
	NoPartitionFence:   "partition fences are not checked: previous owners can still write",

	UnknownAsRefused:        "an entry of a replaced leader is reported as refused",
	TimeoutAsRefused:        "the client reports an undecided commit as refused",
	RetryWithFreshID:        "the client retries with a new request id",
	WatchSkipsOnReconnect:   "the client resumes a watch one entry too late",
	WatchRepeatsOnReconnect: "the client resumes a watch one entry too early",
	HTTP200ForUnknown:       "HTTP answers 200 for a write whose outcome is unknown",
	HTTPTimeoutAsRefused:    "HTTP reports an undecided write as unavailable, which means that it was not applied",
}

// All returns the bugs in name order.
func All() []Bug { return slices.Sorted(maps.Keys(about)) }

// About returns one line about what a bug does.
func About(b Bug) string { return about[b] }

// Parse returns the bug of that name; "" means none.
func Parse(name string) (Bug, error) {
	b := Bug(name)
	if _, known := about[b]; known || name == "" {
		return b, nil
	}
	var names []string
	for _, known := range All() {
		names = append(names, string(known))
	}
	return "", fmt.Errorf("unknown seeded bug %q: choose one of %s", name, strings.Join(names, ", "))
}
