// Package assign decides which node or host owns which partition of instance
// keys, and keeps the lease under which this process owns its own.
//
// The leader compares the table of partitions with what package placement gives,
// and proposes moves in small steps: it assigns free partitions, asks owners to
// drain others, and takes back drains that are no longer needed. A process keeps
// its partitions only while it holds a lease, which it renews at the leader. It
// releases a partition that drains once its instances have stopped.
//
// Every move names the epoch that it was planned from, so the state machine
// refuses a move that has been overtaken.
package assign
