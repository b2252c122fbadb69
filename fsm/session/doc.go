// Package session applies the ops on sessions, their turns and their reviews, and answers the reads
// of them.
//
// A session is a conversation that outlives its runners. One runner at a time holds its lease, a
// claim of package claim, and answers one request: a turn. A review is a question that a turn asks
// a person.
package session
