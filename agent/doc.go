// Package agent is the domain of Dormouse: what agents leave behind when they
// sleep, and the contract of every store that keeps it.
//
// Values (Thread, Entry, Checkpoint, Value, Claim), the ops that change them, the
// rules they obey, and Service, the contract that store, router and client all
// implement. The package is pure: no clock, no randomness, no I/O, no
// goroutine. JSON payloads are kept as the caller wrote them, less
// insignificant white space; see Compact.
package agent
