// Package adk has the session, memory and artifact services of google.golang.org/adk/v2
// on Dormouse.
//
// A session is a thread, whose entries are the events, and a value with the session's
// state. Each event is one commit: the event, and what it changes in the state of the
// session, the user and the app, all or nothing. The commit names the revision of the
// thread that the caller's session was read at, so a stale writer is refused.
//
// An artifact's version is a value. A memory is an event's text, found by full-text
// search as soon as it is written.
package adk
