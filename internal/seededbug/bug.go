// Package seededbug seeds known bugs in the product, to prove that the harness
// finds them. Each is a guarded line at the very place where the right rule
// stands:
//
//	if seededbug.Is(seededbug.SealIgnored) { … }
//
// Only a build with the tag "seeded" can have one, and then the one that the
// environment variable DORMOUSE_SEEDED_BUG names. Everywhere else Is is a
// constant false, so that the guarded lines are not in the program at all.
//
// What finds each bug, and how fast, is in package jepsen/seeded.
package seededbug

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bug is a seeded bug, by the name that the environment gives it.
type Bug string

// Variable is the environment variable that names the bug.
const Variable = "DORMOUSE_SEEDED_BUG"

// Reads that may be older than what was acknowledged before they began.
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

// What a majority of disks or of nodes is believed to hold, and does not.
const (
	NoFsync            Bug = "no-fsync"
	FsyncAfterAck      Bug = "fsync-after-ack"
	AckedBeforeCommit  Bug = "acked-before-commit"
	TailLossAccepted   Bug = "tail-loss-accepted"
	UnheardIsRemoved   Bug = "unheard-is-removed"
	UnguardedHeartbeat Bug = "unguarded-heartbeat"
	NoSnapshotTerm     Bug = "no-snapshot-term"
)

// Snapshots that are not the state at their index.
const (
	SnapshotRunsAhead    Bug = "snapshot-runs-ahead"
	DedupeLostInSnapshot Bug = "dedupe-lost-in-snapshot"
)

// A state machine that breaks its own rules.
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
	CompactionForgetsRev  Bug = "compaction-forgets-rev"
	CompactionPastPointer Bug = "compaction-past-pointer"
	DuplicateEntryIDs     Bug = "duplicate-entry-ids"
	WatchWokenEarly       Bug = "watch-woken-early"
	WatchFollowsNewLife   Bug = "watch-follows-new-life"
)

// Claims that let two in.
const (
	NoFenceCheck      Bug = "no-fence-check"
	FenceCheckedEarly Bug = "fence-checked-early"
	EpochReused       Bug = "epoch-reused"
	WallClockTicks    Bug = "wall-clock-ticks"
)

// Turns, reviews and forks that are not what was promised.
const (
	StaleLeaseActs     Bug = "stale-lease-acts"
	ReviewDecidedTwice Bug = "review-decided-twice"
	ForkIgnoresRev     Bug = "fork-ignores-rev"
	ErasedIsRead       Bug = "erased-is-read"
	ErasedLivesOn      Bug = "erased-lives-on"
)

// Instances that two nodes answer for, and signals and timers that are not once.
const (
	SignalHandledTwice Bug = "signal-handled-twice"
	LapsedLeaseAnswers Bug = "lapsed-lease-answers"
	TimerAckedEarly    Bug = "timer-acked-early"
	NoPartitionFence   Bug = "no-partition-fence"
	UnappliedTurnStays Bug = "unapplied-turn-stays"
	MutationNotResumed Bug = "mutation-not-resumed"
)

// Outcomes mixed up, in the nodes and in the client.
const (
	UnknownAsRefused        Bug = "unknown-as-refused"
	TimeoutAsRefused        Bug = "timeout-as-refused"
	RetryWithFreshID        Bug = "retry-with-fresh-id"
	WatchSkipsOnReconnect   Bug = "watch-skips-on-reconnect"
	WatchRepeatsOnReconnect Bug = "watch-repeats-on-reconnect"
)

// about says of each bug what it does.
var about = map[Bug]string{
	FollowerLocalRead:     "a follower answers reads from what it has, without asking the leader",
	LeaderLocalRead:       "a leader answers reads from what it has, though another may lead by now",
	VerifyLeaderRead:      "raft's VerifyLeader stands in for the barrier",
	NewLeaderServesEarly:  "a new leader reads before it has applied what earlier leaders committed",
	ReadDoesNotWait:       "a read has its index, and does not wait until that is applied",
	RoundJoinedLate:       "a read takes the answer of a round of the leader's that was sent before it began",
	NonVotersConfirm:      "nodes that do not vote count when a leader asks whether it still leads",
	AnyTermConfirms:       "a leader takes a voter's answer for a yes, whatever term it names",
	BarrierJoinsSentRound: "a read takes the answer to a question that was sent before it began",
	StaleThaw:             "a thaw skips the barrier",
	ThawPastPointer:       "a thaw reads the thread as it is now, not as of the checkpoint's pointer",

	NoFsync:            "log and votes are never synced",
	FsyncAfterAck:      "an entry counts as stored before it is written",
	AckedBeforeCommit:  "a follower that does not answer in time counts as having stored the entry",
	TailLossAccepted:   "a log that has lost acknowledged entries is taken as it is, and votes",
	UnheardIsRemoved:   "a member that does not answer the leader is taken out of the cluster",
	UnguardedHeartbeat: "heartbeats raise the term under a leader's feet (hashicorp/raft#695)",
	NoSnapshotTerm:     "a log of another term stands in the way of a snapshot (hashicorp/raft#697)",

	SnapshotRunsAhead:    "a snapshot names an index one past what it holds",
	DedupeLostInSnapshot: "snapshots leave out the answers to requests",

	NoDedupe:              "a request that comes again applies again",
	MapOrder:              "incarnations depend on the order of a map",
	HalfACommitApplied:    "a refused commit leaves what came before the refused op",
	HalfACommitVisible:    "checkpoints can be read before the rest of their commit",
	RevCheckedEarly:       "expected_rev is held to the state as of the proposal",
	RevisionCheckedEarly:  "if_revision is held to the state as of the proposal",
	PatchedEarly:          "a patch is merged with the state as of the proposal",
	LateWriteResurrects:   "a write that names a deleted incarnation makes a new one",
	SealIgnored:           "a sealed id can be written to",
	CompactionForgetsRev:  "a compacted thread counts only the entries that it still has",
	CompactionPastPointer: "compaction takes entries that a checkpoint points to",
	DuplicateEntryIDs:     "an entry whose id is in the thread already is appended again",
	WatchWokenEarly:       "watchers are woken before there is anything new to read",
	WatchFollowsNewLife:   "a watch goes on into the thread that was made anew under its id",

	NoFenceCheck:      "a fence is not looked at",
	FenceCheckedEarly: "a fence is held to the claim as of the proposal",
	EpochReused:       "a claim that was released begins again with its first epoch",
	WallClockTicks:    "claims and requests run out by the leader's wall clock",

	StaleLeaseActs:     "a session's calls are let through under any lease that it has had",
	ReviewDecidedTwice: "a review that was answered can be answered again",
	ForkIgnoresRev:     "a fork is of all entries, whichever rev was asked for",
	ErasedIsRead:       "sessions of an erased agent are there until they are cleared away",
	ErasedLivesOn:      "an erasure is complete though the owner of the live instance was not asked to end it",

	SignalHandledTwice: "a signal that is sent again is handled again",
	LapsedLeaseAnswers: "a node answers for its instances after its lease has lapsed",
	TimerAckedEarly:    "a timer's occurrence is acknowledged before its turn",
	MutationNotResumed: "a pod does not go on with a mutation whose caller has gone",
	UnappliedTurnStays: "a Go handler whose turn was not applied goes on with what it has in memory",
	NoPartitionFence:   "the fence of a partition is not looked at: whoever owned it may still write",

	UnknownAsRefused:        "an entry whose leader lost its place is called refused",
	TimeoutAsRefused:        "the client calls a commit refused that it could not settle",
	RetryWithFreshID:        "the client tries again under a new request id",
	WatchSkipsOnReconnect:   "the client goes on watching one entry too late",
	WatchRepeatsOnReconnect: "the client goes on watching one entry too early",
}

// All lists the bugs, in the order of their names.
func All() []Bug { return slices.Sorted(maps.Keys(about)) }

// About says in one line what a bug does.
func About(b Bug) string { return about[b] }

// Parse is the bug of that name; "" is none.
func Parse(name string) (Bug, error) {
	b := Bug(name)
	if _, known := about[b]; known || name == "" {
		return b, nil
	}
	var names []string
	for _, known := range All() {
		names = append(names, string(known))
	}
	return "", fmt.Errorf("there is no bug %q to seed; there are %s", name, strings.Join(names, ", "))
}
