package raftlog

import (
	"context"

	"github.com/hashicorp/raft"
)

// NewestCommand returns the index of the newest entry up to index that the state
// machine applies: Raft's own entries never reach it. If a snapshot holds all of
// them, it returns applied. ok is false if the log cannot be read.
func NewestCommand(logs raft.LogStore, index, applied uint64) (newest uint64, ok bool) {
	for ; ; index-- {
		var entry raft.Log
		err := logs.GetLog(index, &entry)
		switch {
		case err != nil && Absent(err), err == nil && entry.Type == LogPhantom:
			return applied, true
		case err != nil:
			return 0, false
		case entry.Type == raft.LogCommand:
			return index, true
		}
	}
}

// Wait waits for a future until ctx ends. The goroutine that it starts ends when
// Raft answers, at the latest when Raft stops.
func Wait(ctx context.Context, f raft.Future) error {
	settled := make(chan error, 1)
	go func() { settled <- f.Error() }()
	select {
	case err := <-settled:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
