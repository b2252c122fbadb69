// Package storage is the disk under the state machine: an ordered map of byte keys, written in
// atomic batches. It is the only package that uses Pebble.
//
// The engine has no write-ahead log: the Raft log serves as one. After a crash it is at some
// earlier commit, never in the middle of one, and its user replays from there. So each batch must
// record the last entry (see fsm). Flush makes all commits durable, and Checkpoint makes a durable
// copy in a directory of hard links.
//
// A failure in the background (a flush, a compaction, damage found by a read) is reported once, to
// Options.Fatal. An engine that has failed to write must not be trusted again, so the process
// should end.
package storage
