// Package kv holds the rows of the state machine: the keys that name them, the
// overlay that one log entry writes its changes to before they go to the engine,
// and the caches of the goroutine that applies entries and of reads.
package kv
