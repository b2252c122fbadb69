// Package fsm is the replicated state machine: it applies the log's batches of
// commits to an engine of package storage, and reads them back.
//
// The result of Apply depends only on its entry and on replicated state: not on
// a clock, randomness, map order or a node's configuration. A refused commit is
// a result. Three failures stop the node for good (Options.Fatal): an I/O error,
// an entry that cannot be decoded, and a chain that differs from the leader's. A
// replica that skips an entry, or that has diverged, must not answer.
//
// One log entry is one engine batch, which includes the applied index. So after a
// crash the engine has the state of some complete entry, and Raft replays from
// there.
//
// A snapshot is the engine's files at an index, hard-linked. It is streamed as
// files after a header, received beside the current state, verified completely,
// and swapped in as a whole or not at all.
package fsm
