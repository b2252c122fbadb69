// Package proposer turns many small commits into few log entries, and answers
// linearizable reads.
//
// Each commit has one of three outcomes:
//
//   - Decided: the entry is on the disks of a majority and applied here.
//   - Not applied: the commit never entered the log and can be sent again.
//   - Unknown: the commit may still be applied. The error has code unknown.
//
// Commits that wait are packed into one entry while the entry before it is in
// flight: one fsync on each voter serves them all. One entry is in flight at a
// time.
//
// A linearizable read uses a read index that a majority of the voters confirms
// (ReadIndex). If they do not answer, the read waits for a log entry. Neither
// relies on a lease, on heartbeats or on raft.VerifyLeader.
package proposer
