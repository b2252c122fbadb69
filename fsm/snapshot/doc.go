// Package snapshot keeps a node's snapshots, reads and writes them as streams, and receives one
// from a leader. A snapshot is a checkpoint of the storage engine: a directory of files that do not
// change, described by a header.
package snapshot
