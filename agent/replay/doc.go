// Package replay returns the history of a session as one timeline: its requests,
// thread, snapshots, reviews and checkpoints. It only reads data; nothing is executed
// again.
package replay
