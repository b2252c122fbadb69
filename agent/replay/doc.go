// Package replay tells what happened to a session, in order: its requests,
// its thread, snapshots, reviews and checkpoints as one timeline. It is data
// only: nothing is executed again.
package replay
