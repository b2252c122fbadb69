package seeded

import (
	"time"

	"dormouse/internal/seededbug"
)

// The times of calls and faults. Start, recovery and the final look of the cluster add
// about fifteen seconds.
const (
	short = 10 * time.Second
	some  = 15 * time.Second
	long  = 20 * time.Second
)

// Names that occur more than once.
const (
	turn        = "turn"
	claim       = "claim"
	hibernate   = "hibernate"
	watch       = "watch"
	kill        = "kill"
	deletes     = "delete"
	set         = "set"
	power       = "power"
	session     = "session"
	review      = "review"
	fork        = "fork"
	erase       = "erase"
	instance    = "instance"
	convergence = "convergence"
	liveness    = "liveness"
	lagging     = "slow-net/a-follower-lags"

	installing = "kill/while-taking-a-snapshot-over"
)

// eachDecides are the settings for bugs that show only where each replica decides.
var eachDecides = map[string]string{"raft.decide": "each"}

// trials lists one trial for each bug.
var trials = []Trial{
	// Reads.
	{Bug: seededbug.FollowerLocalRead, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn, Quick: true},
	{
		Bug: seededbug.LeaderLocalRead, Workloads: []string{turn}, Nemeses: []string{"disk/a-leader-hangs-cut-off"}, Time: 45 * time.Second, Seed: 1, Check: turn,
		Settings: map[string]string{"raft.leader_write": "first"}, // its Raft waits for its disk, and does not step down
	},
	{Bug: seededbug.ReadDoesNotWait, Workloads: []string{turn}, Nemeses: []string{lagging}, Time: some, Seed: 1, Check: turn},
	{Bug: seededbug.BarrierJoinsSentRound, Workloads: []string{turn}, Nemeses: []string{lagging}, Time: some, Seed: 1, Check: turn},
	{Bug: seededbug.VerifyLeaderRead, Workloads: []string{turn}, Nemeses: []string{kill}, Nodes: 1, Time: long, Seed: 1, Check: turn},
	{Bug: seededbug.NewLeaderServesEarly, Workloads: []string{turn}, Nemeses: []string{kill}, Nodes: 1, Time: long, Seed: 1, Check: turn},
	// Of three nodes, the leader and the follower that reads are a majority, so no round is needed.
	{Bug: seededbug.RoundJoinedLate, Workloads: []string{turn}, Nemeses: []string{"slow-net/a-leader-is-heard-late"}, Nodes: 5, Time: 45 * time.Second, Seed: 1, Check: turn},
	{
		Bug: seededbug.AnyTermConfirms, Workloads: []string{turn}, Nemeses: []string{"disk/a-leader-hangs-paused-until-there-is-another"}, Time: 45 * time.Second, Seed: 1, Check: turn,
		Settings: map[string]string{"raft.leader_write": "first"},
	},
	{
		Bug: seededbug.NonVotersConfirm, Workloads: []string{turn}, Nemeses: []string{"disk/a-leader-hangs-cut-off-with-one-that-does-not-vote"}, Nodes: 4,
		Processes: 24, Time: time.Minute, Seed: 1, Check: turn, Settings: map[string]string{"raft.leader_write": "first"},
	},
	{
		Bug: seededbug.UnguardedHeartbeat, Workloads: []string{turn}, Nemeses: []string{"failpoint/the-leader-is-refused-and-then-hears-the-next-one-by-heartbeats-alone"},
		Time: 45 * time.Second, Seed: 1, Check: liveness,
	},
	{Bug: seededbug.StaleThaw, Workloads: []string{hibernate}, Time: short, Seed: 1, Check: hibernate, Quick: true},
	{Bug: seededbug.ThawPastPointer, Workloads: []string{hibernate}, Time: short, Seed: 1, Check: hibernate},

	// Disks and majorities.
	{Bug: seededbug.NoFsync, Workloads: []string{set}, Nemeses: []string{power}, Nodes: 1, Time: long, Seed: 1, Check: set},
	{Bug: seededbug.FsyncAfterAck, Workloads: []string{set}, Nemeses: []string{power}, Nodes: 1, Time: long, Seed: 1, Check: set},
	{
		Bug: seededbug.UnwrittenEntryCounts, Workloads: []string{set}, Nemeses: []string{"disk/a-leader-hangs-and-ends-with-those-that-heard-it"}, Time: 45 * time.Second, Seed: 1, Check: set,
		Settings: map[string]string{"raft.leader_write": "parallel"},
	},
	{Bug: seededbug.TailLossAccepted, Workloads: []string{set}, Nemeses: []string{"corrupt/the-log-loses-its-end"}, Time: 45 * time.Second, Seed: 1, Check: set},
	{Bug: seededbug.NoSnapshotTerm, Workloads: []string{turn}, Nemeses: []string{kill, "partition"}, Time: 45 * time.Second, Seed: 1, Check: liveness},
	{Bug: seededbug.AckedBeforeCommit, Workloads: []string{set}, Nemeses: []string{"partition/leader-from-nodes"}, Time: long, Seed: 1, Check: set},

	// Snapshots.
	{Bug: seededbug.SnapshotRunsAhead, Workloads: []string{turn}, Nemeses: []string{installing}, Time: time.Minute, Seed: 1, Check: liveness},
	{Bug: seededbug.ReviewsLostInSnapshot, Workloads: []string{review}, Nemeses: []string{installing}, Time: time.Minute, Seed: 1, Check: convergence},
	{Bug: seededbug.CacheOutlivesInstall, Workloads: []string{turn}, Nemeses: []string{"partition/single"}, Time: time.Minute, Seed: 1, Check: convergence, Settings: eachDecides},
	{Bug: seededbug.DueOutlivesInstall, Workloads: []string{review}, Nemeses: []string{"partition/single"}, Time: time.Minute, Seed: 1, Check: convergence, Settings: eachDecides},
	{Bug: seededbug.DedupeLostInSnapshot, Workloads: []string{"dedupe"}, Nemeses: []string{installing}, Time: 40 * time.Second, Seed: 1, Check: "dedupe"},

	// The state machine.
	{Bug: seededbug.MapOrder, Workloads: []string{turn}, Time: short, Seed: 1, Check: convergence, Quick: true, Settings: eachDecides},
	{Bug: seededbug.RevCheckedEarly, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn, Quick: true},
	{Bug: seededbug.RevisionCheckedEarly, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn},
	{Bug: seededbug.HalfACommitApplied, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn},
	{Bug: seededbug.HalfACommitVisible, Workloads: []string{turn}, Time: some, Seed: 1, Check: turn},
	{Bug: seededbug.PatchedEarly, Workloads: []string{"register"}, Time: some, Seed: 1, Check: "register"},
	{Bug: seededbug.LateWriteResurrects, Workloads: []string{deletes}, Time: short, Seed: 1, Check: deletes},
	{Bug: seededbug.SealIgnored, Workloads: []string{deletes}, Time: short, Seed: 1, Check: deletes},
	{Bug: seededbug.QuotaCheckedEarly, Workloads: []string{"quota"}, Time: short, Seed: 1, Check: "quota"},
	{Bug: seededbug.RefusedAtQuotaStays, Workloads: []string{"quota"}, Time: short, Seed: 1, Check: "quota"},
	{Bug: seededbug.FeedTellsOfRefused, Workloads: []string{"changes"}, Time: short, Seed: 1, Check: "changes"},
	{Bug: seededbug.IndexMissesDeletes, Workloads: []string{"changes"}, Time: short, Seed: 1, Check: "changes"},
	{Bug: seededbug.CompactionForgetsRev, Workloads: []string{watch}, Time: short, Seed: 1, Check: watch},
	{Bug: seededbug.CompactionPastPointer, Workloads: []string{hibernate}, Time: short, Seed: 1, Check: hibernate},
	{Bug: seededbug.DuplicateEntryIDs, Workloads: []string{"append"}, Nodes: 1, Time: short, Seed: 1, Check: "append"},
	{Bug: seededbug.WatchWokenEarly, Workloads: []string{watch}, Time: 40 * time.Second, Seed: 1, Check: watch},
	{Bug: seededbug.WatchFollowsNewLife, Workloads: []string{watch}, Time: some, Seed: 1, Check: watch},

	{Bug: seededbug.RecallMissesDeletes, Workloads: []string{"recall"}, Time: long, Seed: 1, Check: "recall"},

	// Tokens.
	{Bug: seededbug.RevokedTokenCommits, Workloads: []string{"tokens"}, Nemeses: []string{lagging}, Time: 30 * time.Second, Seed: 1, Check: "tokens"},
	{Bug: seededbug.RevokedTokenReads, Workloads: []string{"tokens"}, Nemeses: []string{lagging}, Time: 30 * time.Second, Seed: 1, Check: "tokens"},

	// Claims.
	{Bug: seededbug.NoFenceCheck, Workloads: []string{claim}, Time: some, Seed: 1, Check: claim, Quick: true},
	{Bug: seededbug.FenceCheckedOnce, Workloads: []string{claim}, Time: 40 * time.Second, Seed: 1, Check: claim},
	{Bug: seededbug.FenceCheckedEarly, Workloads: []string{claim}, Time: some, Seed: 1, Check: claim},
	{Bug: seededbug.EpochReused, Workloads: []string{claim}, Time: some, Seed: 1, Check: claim},

	{Bug: seededbug.WallClockTicks, Workloads: []string{claim}, Nemeses: []string{"clock/the-leaders-jumps"}, Time: 30 * time.Second, Seed: 1, Check: claim},

	// Turns, reviews and forks.
	{Bug: seededbug.StaleLeaseActs, Workloads: []string{session}, Time: some, Seed: 1, Check: session},
	{Bug: seededbug.ReviewDecidedTwice, Workloads: []string{review}, Time: short, Seed: 1, Check: review},
	{Bug: seededbug.ReviewExpiresByNode, Workloads: []string{review}, Nemeses: []string{"clock"}, Time: 40 * time.Second, Seed: 1, Check: convergence, Settings: eachDecides},
	{Bug: seededbug.CompactionPastFork, Workloads: []string{fork}, Time: long, Seed: 1, Check: fork},
	{Bug: seededbug.ForkOfForkUnpinned, Workloads: []string{fork}, Time: long, Seed: 1, Check: fork},
	{Bug: seededbug.ForkIgnoresRev, Workloads: []string{fork}, Time: short, Seed: 1, Check: fork},
	{Bug: seededbug.ErasedIsRead, Workloads: []string{erase}, Time: some, Seed: 1, Check: erase},
	{Bug: seededbug.ErasedLivesOn, Workloads: []string{"erase-live"}, Time: some, Seed: 1, Check: "erase-live"},

	// Instances and timers.
	{Bug: seededbug.SignalHandledTwice, Workloads: []string{instance}, Time: short, Seed: 1, Check: instance},
	// The simulation finds it every time: TestGuessesOfALapsedOwnerAreFoundSim of
	// package node.
	{Bug: seededbug.LapsedLeaseAnswers, Workloads: []string{instance}, Nemeses: []string{"partition/leader-from-nodes"}, Time: long, Seed: 1, Check: instance},
	{Bug: seededbug.NoPartitionFence, Workloads: []string{"plan"}, Nemeses: []string{"partition/leader-from-nodes"}, Processes: 24, Time: time.Minute, Seed: 1, Check: "plan"},
	{Bug: seededbug.UnappliedTurnStays, Workloads: []string{"host"}, Time: short, Seed: 1, Check: "host", Client: true},
	{Bug: seededbug.MutationNotResumed, Workloads: []string{"pod"}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: "pod"},
	{Bug: seededbug.TimerAckedEarly, Workloads: []string{"timer"}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: "timer"},

	{Bug: seededbug.TimerKeepsItsPlace, Workloads: []string{"timer"}, Time: 40 * time.Second, Seed: 1, Check: "timer"},
	{Bug: seededbug.OldTimerIsAcked, Workloads: []string{"timer"}, Time: 40 * time.Second, Seed: 1, Check: "timer"},
	{Bug: seededbug.WallClockLease, Workloads: []string{instance}, Nemeses: []string{"clock/the-leaders-jumps-as-a-follower-is-cut-off"}, Time: 40 * time.Second, Seed: 1, Check: instance},
	{Bug: seededbug.LookupSkipsEpoch, Workloads: []string{instance}, Nemeses: []string{"partition/leader-from-nodes"}, Time: 40 * time.Second, Seed: 1, Check: instance},

	// Outcomes and members.
	{Bug: seededbug.UnknownAsRefused, Workloads: []string{set}, Nemeses: []string{"partition/leader-receives-nothing"}, Time: long, Seed: 1, Check: set},
	{Bug: seededbug.WatchSkipsOnReconnect, Workloads: []string{watch}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: watch, Client: true},
	{Bug: seededbug.WatchRepeatsOnReconnect, Workloads: []string{watch}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: watch, Client: true},
	{Bug: seededbug.NoDedupe, Workloads: []string{turn}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: turn},
	{Bug: seededbug.RetryWithFreshID, Workloads: []string{turn}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: turn, Client: true},
	{Bug: seededbug.TimeoutAsRefused, Workloads: []string{turn}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: turn, Client: true},
	{Bug: seededbug.HTTP200ForUnknown, Workloads: []string{set}, Nemeses: []string{"partition/leader-receives-nothing"}, Time: 25 * time.Second, Seed: 1, Check: set},
	{Bug: seededbug.HTTPTimeoutAsRefused, Workloads: []string{set}, Nemeses: []string{"partition/leader-receives-nothing"}, Time: 25 * time.Second, Seed: 1, Check: set},
	{Bug: seededbug.UnheardIsRemoved, Workloads: []string{turn}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: liveness},
}
