// Package storage is the disk under the state machine: an ordered map of byte
// keys, written in atomic batches. It is the only package that knows Pebble.
//
// The engine keeps no log of its own: the Raft log is its log. After a crash
// it stands at some earlier commit, whole, never at half of one, and whoever
// writes to it replays from there; so what is written must say how far it goes
// (see fsm). Flush makes everything committed durable, and Checkpoint does so
// into a directory of hard links.
//
// A failure in the background (a flush, a compaction, damage found by a read)
// is told once, to Options.Fatal: an engine that has failed to write must not
// be trusted again, so the process is expected to end.
package storage
