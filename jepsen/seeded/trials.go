package seeded

import (
	"time"

	"dormouse/internal/planted"
)

// Times are of calls and faults; the start of the cluster, its recovery and the
// last look add about fifteen seconds.
const (
	short = 10 * time.Second
	some  = 15 * time.Second
	long  = 20 * time.Second
)

// Names of what is asked for more than once.
const (
	turn      = "turn"
	claim     = "claim"
	hibernate = "hibernate"
	watch     = "watch"
	kill      = "kill"
	deletes   = "delete"
	set       = "set"
	power     = "power"
	session   = "session"
	review    = "review"
	fork      = "fork"
	erase     = "erase"
	instance  = "instance"
	lagging   = "slow-net/a-follower-lags"

	installing = "kill/while-taking-a-snapshot-over"
)

// trials lists a trial of each bug.
var trials = []Trial{
	// Reads.
	{Bug: planted.FollowerLocalRead, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn, Quick: true},
	{Bug: planted.LeaderLocalRead, Workloads: []string{turn}, Nemeses: []string{"disk/a-leader-hangs-cut-off"}, Time: 45 * time.Second, Seed: 1, Check: turn},
	{Bug: planted.ReadDoesNotWait, Workloads: []string{turn}, Nemeses: []string{lagging}, Time: some, Seed: 1, Check: turn},
	{Bug: planted.BarrierJoinsSentRound, Workloads: []string{turn}, Nemeses: []string{lagging}, Time: some, Seed: 1, Check: turn},
	{Bug: planted.VerifyLeaderRead, Workloads: []string{turn}, Nemeses: []string{kill}, Nodes: 1, Time: long, Seed: 1, Check: turn},
	{Bug: planted.NewLeaderServesEarly, Workloads: []string{turn}, Nemeses: []string{kill}, Nodes: 1, Time: long, Seed: 1, Check: turn},
	{Bug: planted.StaleThaw, Workloads: []string{hibernate}, Time: short, Seed: 1, Check: hibernate, Quick: true},
	{Bug: planted.ThawPastPointer, Workloads: []string{hibernate}, Time: short, Seed: 1, Check: hibernate},

	// Disks and majorities.
	{Bug: planted.NoFsync, Workloads: []string{set}, Nemeses: []string{power}, Nodes: 1, Time: long, Seed: 1, Check: "liveness"},
	{Bug: planted.FsyncAfterAck, Workloads: []string{set}, Nemeses: []string{power}, Nodes: 1, Time: long, Seed: 1, Check: set},
	{Bug: planted.AckedBeforeCommit, Workloads: []string{set}, Nemeses: []string{"partition/leader-from-nodes"}, Time: long, Seed: 1, Check: set},

	// Snapshots.
	{Bug: planted.SnapshotRunsAhead, Workloads: []string{turn}, Nemeses: []string{installing}, Time: time.Minute, Seed: 1, Check: "liveness"},
	{Bug: planted.DedupeLostInSnapshot, Workloads: []string{"dedupe"}, Nemeses: []string{installing}, Time: 40 * time.Second, Seed: 1, Check: "dedupe"},

	// The state machine.
	{Bug: planted.MapOrder, Workloads: []string{turn}, Time: short, Seed: 1, Check: "convergence", Quick: true},
	{Bug: planted.RevCheckedEarly, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn, Quick: true},
	{Bug: planted.RevisionCheckedEarly, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn},
	{Bug: planted.HalfACommitApplied, Workloads: []string{turn}, Time: short, Seed: 1, Check: turn},
	{Bug: planted.HalfACommitVisible, Workloads: []string{turn}, Time: some, Seed: 1, Check: turn},
	{Bug: planted.PatchedEarly, Workloads: []string{"register"}, Time: some, Seed: 1, Check: "register"},
	{Bug: planted.LateWriteResurrects, Workloads: []string{deletes}, Time: short, Seed: 1, Check: deletes},
	{Bug: planted.SealIgnored, Workloads: []string{deletes}, Time: short, Seed: 1, Check: deletes},
	{Bug: planted.CompactionForgetsRev, Workloads: []string{watch}, Time: short, Seed: 1, Check: watch},
	{Bug: planted.CompactionPastPointer, Workloads: []string{hibernate}, Time: short, Seed: 1, Check: hibernate},
	{Bug: planted.DuplicateEntryIDs, Workloads: []string{"append"}, Nodes: 1, Time: short, Seed: 1, Check: "append"},
	{Bug: planted.WatchWokenEarly, Workloads: []string{watch}, Time: 40 * time.Second, Seed: 1, Check: watch},
	{Bug: planted.WatchFollowsNewLife, Workloads: []string{watch}, Time: some, Seed: 1, Check: watch},

	// Claims.
	{Bug: planted.NoFenceCheck, Workloads: []string{claim}, Time: some, Seed: 1, Check: claim, Quick: true},
	{Bug: planted.FenceCheckedEarly, Workloads: []string{claim}, Time: some, Seed: 1, Check: claim},
	{Bug: planted.EpochReused, Workloads: []string{claim}, Time: some, Seed: 1, Check: claim},

	{Bug: planted.WallClockTicks, Workloads: []string{claim}, Nemeses: []string{"clock/the-leaders-jumps"}, Time: 30 * time.Second, Seed: 1, Check: claim},

	// Turns, reviews and forks.
	{Bug: planted.StaleLeaseActs, Workloads: []string{session}, Time: some, Seed: 1, Check: session},
	{Bug: planted.ReviewDecidedTwice, Workloads: []string{review}, Time: short, Seed: 1, Check: review},
	{Bug: planted.ForkIgnoresRev, Workloads: []string{fork}, Time: short, Seed: 1, Check: fork},
	{Bug: planted.ErasedIsRead, Workloads: []string{erase}, Time: some, Seed: 1, Check: erase},
	{Bug: planted.ErasedLivesOn, Workloads: []string{"erase-live"}, Time: some, Seed: 1, Check: "erase-live"},

	// Instances and timers.
	{Bug: planted.SignalHandledTwice, Workloads: []string{instance}, Time: short, Seed: 1, Check: instance},
	// Virtual time finds it each time: TestGuessesOfALapsedOwnerAreFoundSim of package node.
	{Bug: planted.LapsedLeaseAnswers, Workloads: []string{instance}, Nemeses: []string{"partition/leader-from-nodes"}, Time: long, Seed: 1, Check: instance},
	{Bug: planted.NoPartitionFence, Workloads: []string{"plan"}, Nemeses: []string{"partition/leader-from-nodes"}, Processes: 24, Time: time.Minute, Seed: 1, Check: "plan"},
	{Bug: planted.UnappliedTurnStays, Workloads: []string{"host"}, Time: short, Seed: 1, Check: "host", Client: true},
	{Bug: planted.MutationNotResumed, Workloads: []string{"pod"}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: "pod"},
	{Bug: planted.TimerAckedEarly, Workloads: []string{"timer"}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: "timer"},

	// Outcomes and members.
	{Bug: planted.UnknownAsRefused, Workloads: []string{set}, Nemeses: []string{"partition/leader-hears-nobody"}, Time: long, Seed: 1, Check: set},
	{Bug: planted.WatchSkipsOnReconnect, Workloads: []string{watch}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: watch, Client: true},
	{Bug: planted.WatchRepeatsOnReconnect, Workloads: []string{watch}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: watch, Client: true},
	{Bug: planted.NoDedupe, Workloads: []string{turn}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: turn},
	{Bug: planted.RetryWithFreshID, Workloads: []string{turn}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: turn, Client: true},
	{Bug: planted.TimeoutAsRefused, Workloads: []string{turn}, Nemeses: []string{kill}, Time: 30 * time.Second, Seed: 1, Check: turn, Client: true},
	{Bug: planted.UnheardIsRemoved, Workloads: []string{turn}, Nemeses: []string{kill}, Time: long, Seed: 1, Check: "liveness"},
}
