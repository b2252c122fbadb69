// Package agent is the domain model of Dormouse: the stored state of AI agents, and
// the contract of every store that keeps it.
//
// It holds the stored types (Thread, Entry, Checkpoint, Value, Claim), the ops that
// change them and their rules. Service is the contract that store, router and client
// implement. The package is pure: no clock, no randomness, no I/O, no goroutine. JSON
// payloads are stored as the caller wrote them, without insignificant white space; see
// Compact.
package agent
