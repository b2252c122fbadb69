package client

import (
	"context"

	"dormouse/agent"
)

// PutCheckpoint writes a whole checkpoint, as a new revision of its key. If IfRevision does
// not hold, the error is revision_mismatch with the stored revision. A Thread pointer that
// does not match its thread is missing_thread or thread_mismatch.
func (s Checkpoints) PutCheckpoint(ctx context.Context, put agent.PutCheckpoint) (*agent.CheckpointResult, error) {
	return do[*agent.CheckpointResult](ctx, s.target, &put)
}

// PatchCheckpoint merges a patch into a checkpoint's state (JSON merge patch, RFC 7396): null
// removes a member. not_found if the checkpoint does not exist, unless Upsert is set.
func (s Checkpoints) PatchCheckpoint(ctx context.Context, patch agent.PatchCheckpoint) (*agent.CheckpointResult, error) {
	return do[*agent.CheckpointResult](ctx, s.target, &patch)
}

// DeleteCheckpoint deletes a checkpoint with its history; deleting a missing one
// succeeds.
func (s Checkpoints) DeleteCheckpoint(ctx context.Context, del agent.DeleteCheckpoint) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &del)
}

// GetCheckpoint reads the current checkpoint of a key; not_found if it does not exist.
func (s Checkpoints) GetCheckpoint(ctx context.Context, key string) (*agent.Checkpoint, error) {
	return ask[*agent.Checkpoint](ctx, s.target, &agent.GetCheckpoint{Key: key})
}

// GetRevision reads an older revision that is still kept. Otherwise the error is
// not_found, and its detail says which revisions are kept: Policy.History sets how many.
func (s Checkpoints) GetRevision(ctx context.Context, key string, revision uint64) (*agent.Checkpoint, error) {
	return ask[*agent.Checkpoint](ctx, s.target, &agent.GetCheckpoint{Key: key, Revision: revision})
}

// ListCheckpointBodies is ListCheckpoints with the state and the metadata of each. A page ends early
// rather than exceed agent.ReadBytesMax.
func (s Checkpoints) ListCheckpointBodies(ctx context.Context, page agent.Page) (*agent.CheckpointList, error) {
	return ask[*agent.CheckpointList](ctx, s.target, &agent.ListCheckpoints{Page: page, Body: true})
}

// ListCheckpoints lists checkpoints in key order.
func (s Checkpoints) ListCheckpoints(ctx context.Context, page agent.Page) (*agent.CheckpointList, error) {
	return ask[*agent.CheckpointList](ctx, s.target, &agent.ListCheckpoints{Page: page})
}

// CheckpointHistory lists the kept revisions of a key, newest first.
func (s Checkpoints) CheckpointHistory(ctx context.Context, key string) (*agent.CheckpointList, error) {
	return ask[*agent.CheckpointList](ctx, s.target, &agent.CheckpointHistory{Key: key})
}
