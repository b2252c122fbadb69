package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// Checkpointer stores states by key.
type Checkpointer interface {
	// Put writes a state, which is a JSON object, over any existing one. It returns
	// the checkpoint's new revision.
	Put(ctx context.Context, key string, state agent.JSON) (revision uint64, err error)

	// PutAt is Put if the checkpoint is at that revision, where 0 means that it does
	// not exist; else it fails with revision_mismatch.
	PutAt(ctx context.Context, key string, state agent.JSON, at uint64) (revision uint64, err error)

	// Get reads the current checkpoint.
	Get(ctx context.Context, key string) (*agent.Checkpoint, error)

	// At reads an older revision, if the scope's policy still keeps it.
	At(ctx context.Context, key string, revision uint64) (*agent.Checkpoint, error)

	// Delete deletes the checkpoint with its history; deleting a missing one succeeds.
	Delete(ctx context.Context, key string) error

	// List yields the checkpoints whose keys have a prefix, in key order. An error is
	// the last element.
	List(ctx context.Context, prefix string) iter.Seq2[agent.CheckpointRow, error]
}

// Checkpoints implements Checkpointer with a scope.
type Checkpoints struct{ Scope client.Scope }

var _ Checkpointer = Checkpoints{}

// Put implements Checkpointer.
func (c Checkpoints) Put(ctx context.Context, key string, state agent.JSON) (uint64, error) {
	return c.put(ctx, agent.PutCheckpoint{Key: key, State: state})
}

// PutAt implements Checkpointer.
func (c Checkpoints) PutAt(ctx context.Context, key string, state agent.JSON, at uint64) (uint64, error) {
	return c.put(ctx, agent.PutCheckpoint{Key: key, State: state, IfRevision: &at})
}

func (c Checkpoints) put(ctx context.Context, put agent.PutCheckpoint) (uint64, error) {
	r, err := c.Scope.PutCheckpoint(ctx, put)
	if err != nil {
		return 0, err
	}
	return r.Revision, nil
}

// Get implements Checkpointer.
func (c Checkpoints) Get(ctx context.Context, key string) (*agent.Checkpoint, error) {
	return c.Scope.GetCheckpoint(ctx, key)
}

// At implements Checkpointer.
func (c Checkpoints) At(ctx context.Context, key string, revision uint64) (*agent.Checkpoint, error) {
	return c.Scope.GetRevision(ctx, key, revision)
}

// Delete implements Checkpointer.
func (c Checkpoints) Delete(ctx context.Context, key string) error {
	_, err := c.Scope.DeleteCheckpoint(ctx, agent.DeleteCheckpoint{Key: key})
	return err
}

// List implements Checkpointer.
func (c Checkpoints) List(ctx context.Context, prefix string) iter.Seq2[agent.CheckpointRow, error] {
	return pages(prefix, func(page agent.Page) ([]agent.CheckpointRow, string, error) {
		list, err := c.Scope.ListCheckpoints(ctx, page)
		if err != nil {
			return nil, "", err
		}
		return list.Items, list.Next, nil
	})
}

// pages yields the rows of a list, page by page.
func pages[Row any](prefix string, read func(agent.Page) (rows []Row, next string, err error)) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		page := agent.Page{Prefix: prefix}
		for {
			rows, next, err := read(page)
			if err != nil {
				var none Row
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			page.After = next
		}
	}
}
