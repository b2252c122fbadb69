// Package load is a closed-loop load generator. Each caller waits for an answer before
// its next call. It runs for a fixed time after a warm-up. A Driver makes the calls to
// a particular system.
package load

import "context"

// Driver makes the calls to one system. A write that returns nil is on disk, or on the
// disks of a majority. A read is linearizable. All methods may be called concurrently,
// but only one at a time for the same thread.
type Driver interface {
	// Put writes a whole checkpoint.
	Put(ctx context.Context, key string, checkpoint []byte) error
	// Get reads a checkpoint.
	Get(ctx context.Context, key string) ([]byte, error)
	// Append appends entries if the thread is at t.Rev, and advances t.
	Append(ctx context.Context, t *Thread, entries ...[]byte) error
	// Turn is an Append and the Put of the checkpoint with the thread's name, in one
	// transaction.
	Turn(ctx context.Context, t *Thread, checkpoint []byte, entries ...[]byte) error
	// Thaw reads a checkpoint and the last tail entries of the thread of that name at
	// one point in time.
	Thaw(ctx context.Context, key string, tail int) (checkpoint []byte, entries int, err error)
	// Look sets t.Rev to the stored rev, or 0 if the thread does not exist.
	Look(ctx context.Context, t *Thread) error
	Close() error
}

// Thread is what a caller knows of a thread. Only this caller writes it.
type Thread struct {
	ID    string
	Rev   uint64 // number of appended entries
	Token int64  // for the driver, such as etcd's mod revision
}
