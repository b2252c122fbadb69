// Package raftlog holds the log store and the stable store of a node, as raft sees
// them.
//
// The engines are raft-wal and raft-boltdb. Wrappers guard against what the engines
// let pass: flipped bits, a lost tail, an fsync that fails or hangs, a full disk, and
// a vote while the log is damaged. The first error of a write closes the stores and
// ends the process. See Stores for their order.
package raftlog
