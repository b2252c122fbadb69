// Package agent is the domain model of Dormouse: the stored state of AI agents, and
// the contract of every store that keeps it.
//
// It holds the stored types (Thread, Entry, Checkpoint, Value, Claim), the ops that
// change them and their rules. Service is the contract that store, router and client
// implement. Programs use it through package client. The package is pure: no clock, no
// randomness, no I/O, no goroutine. JSON payloads are stored as the caller wrote them,
// without insignificant white space; see Compact.
//
// # Terms
//
// A Scope is a separate keyspace, such as a tenant's. A Commit is a list of ops, of which
// all or none apply; each Op has an OpResult. Reads are a list of reads, all at one index
// of the replicated log; each Read has an Answer.
//
// A rev counts the entries of a thread, including removed ones. A revision counts the
// writes to one key. Both belong to an incarnation: a key that is deleted and written
// again has a new one. A head is a hash over all entries of a thread. An epoch counts the
// holdings of claims.
//
// Log time is the wall time that the leader stamps on log entries. It never runs back,
// and objects with a ttl expire by it. Claims and leases expire by ticks instead, which
// count only the time during which there is a leader.
//
// # Conditions
//
// An op with IfRevision applies only at that revision of its object, and 0 means that the
// object must not exist; otherwise it fails with revision_mismatch. An op with
// IfIncarnation applies only to that incarnation, and otherwise fails with deleted; 0
// means any. A Seal refuses writes to a deleted id for a time, at most SealMax.
package agent
