// Package load is a closed-loop load generator: so many callers, each of which
// waits for its own answer before it goes on, for a fixed time after a warm-up.
// It knows no system; a Driver does the work of one.
package load

import "context"

// Driver does one system's work. A write that returns nil is on a disk, or on
// a majority of them; a read is linearizable. All methods may be called
// concurrently, though only one at a time for the same thread.
type Driver interface {
	// Put writes a checkpoint whole.
	Put(ctx context.Context, key string, checkpoint []byte) error
	// Get reads a checkpoint.
	Get(ctx context.Context, key string) ([]byte, error)
	// Append appends entries if the thread is at t.Rev, and advances t.
	Append(ctx context.Context, t *Thread, entries ...[]byte) error
	// Turn is an Append and the Put of the checkpoint named like the thread,
	// all or nothing.
	Turn(ctx context.Context, t *Thread, checkpoint []byte, entries ...[]byte) error
	// Thaw reads a checkpoint and the last so many entries of the thread of
	// that name, both as of one instant.
	Thaw(ctx context.Context, key string, tail int) (checkpoint []byte, entries int, err error)
	// Look fills in t as it is stored; a missing thread is at 0.
	Look(ctx context.Context, t *Thread) error
	Close() error
}

// Thread is what a caller knows of a thread that only it writes.
type Thread struct {
	ID    string
	Rev   uint64 // entries appended
	Token int64  // the system's own, such as etcd's mod revision
}
