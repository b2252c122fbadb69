// Package fsm is the replicated state machine: it applies the log's batches of
// commits to an engine of package storage, and reads them back.
//
// Apply depends on its entry and on replicated state only: no clock, no
// randomness, no map order, no node's configuration. A refused commit is a
// result. An I/O error, an entry that cannot be understood, or a chain that
// differs from the leader's stops the node for good (Options.Fatal), since a
// replica that skips an entry, or that has diverged, must not answer.
//
// One log entry is one engine batch, with the applied index in it, so after a
// crash the engine stands at some entry, whole, and Raft replays from there.
//
// A snapshot is the engine's files at an index, hard-linked. It is streamed as
// files behind a header, received beside what is there, checked to the last
// byte, and swapped in whole or not at all.
package fsm
