package client

import (
	"context"

	"dormouse/agent"
)

// PutCheckpoint writes a whole checkpoint.
func (s Scope) PutCheckpoint(ctx context.Context, put agent.PutCheckpoint) (*agent.CheckpointResult, error) {
	return do[*agent.CheckpointResult](ctx, s, &put)
}

// PatchCheckpoint merges a patch into a checkpoint's state (RFC 7396).
func (s Scope) PatchCheckpoint(ctx context.Context, patch agent.PatchCheckpoint) (*agent.CheckpointResult, error) {
	return do[*agent.CheckpointResult](ctx, s, &patch)
}

// DeleteCheckpoint deletes a checkpoint with its history; deleting a missing one
// succeeds.
func (s Scope) DeleteCheckpoint(ctx context.Context, del agent.DeleteCheckpoint) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s, &del)
}

// GetCheckpoint reads the current checkpoint of a key; not_found if it does not exist.
func (s Scope) GetCheckpoint(ctx context.Context, key string) (*agent.Checkpoint, error) {
	return ask[*agent.Checkpoint](ctx, s, &agent.GetCheckpoint{Key: key})
}

// GetRevision reads a kept older revision.
func (s Scope) GetRevision(ctx context.Context, key string, revision uint64) (*agent.Checkpoint, error) {
	return ask[*agent.Checkpoint](ctx, s, &agent.GetCheckpoint{Key: key, Revision: revision})
}

// ListCheckpoints lists checkpoints in key order.
func (s Scope) ListCheckpoints(ctx context.Context, page agent.Page) (*agent.CheckpointList, error) {
	return ask[*agent.CheckpointList](ctx, s, &agent.ListCheckpoints{Page: page})
}

// CheckpointHistory lists the kept revisions of a key, newest first.
func (s Scope) CheckpointHistory(ctx context.Context, key string) (*agent.CheckpointList, error) {
	return ask[*agent.CheckpointList](ctx, s, &agent.CheckpointHistory{Key: key})
}
