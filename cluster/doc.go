// Package cluster is one Raft group: it turns many small commits into few log
// entries, and promises that each of them has one of three outcomes.
//
//   - Done: the entry is on the disks of a majority and applied here.
//   - Refused: it surely never entered the log, so it may be sent again freely.
//   - Unknown: it may yet apply.
//
// Commits that wait are packed into one entry while the entry before it is in
// flight: one fsync on each voter serves them all. One entry is in flight at a
// time. Reads ride on the same entries (Barrier), so what they see is as
// ordered as what is written; nothing here trusts a lease, a heartbeat or
// raft.VerifyLeader.
//
// A leader proposes and serves nothing until a raft barrier of its own term has
// returned and its clock is armed. The clock stamps each entry with ticks,
// which only count the time that a leader was there to see, and wall time,
// which never runs back.
//
// Nodes speak to each other only over connections that have shaken hands on
// the cluster's id; a node that belongs to no cluster may ask to join one and
// nothing else. Who votes changes one node at a time, through the log.
//
// Raft itself is wrapped (guard, snapshot term, checksum, latch, watchdog,
// high-water mark); docs/adr names the upstream issue behind each wrapper.
package cluster
