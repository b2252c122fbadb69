package client

import (
	"context"

	"dormouse/agent"
)

// PutValue writes a value. If IfRevision or IfBytes does not hold, the error is
// revision_mismatch with the stored revision.
func (s Values) PutValue(ctx context.Context, put agent.PutValue) (*agent.ValueResult, error) {
	return do[*agent.ValueResult](ctx, s.target, &put)
}

// DeleteValue deletes a value; deleting a missing one succeeds.
func (s Values) DeleteValue(ctx context.Context, del agent.DeleteValue) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &del)
}

// ReviseValue changes a value's key, content type and metadata in one commit, but not its
// bytes. not_found if the value does not exist, already_exists if the new key does.
func (s Values) ReviseValue(ctx context.Context, revise agent.ReviseValue) (*agent.ValueResult, error) {
	return do[*agent.ValueResult](ctx, s.target, &revise)
}

// GetValue reads a value; not_found if it does not exist.
func (s Values) GetValue(ctx context.Context, key string) (*agent.Value, error) {
	return ask[*agent.Value](ctx, s.target, &agent.GetValue{Key: key})
}

// ListValueBodies is ListValues with the bytes of each. A page ends early rather than exceed
// agent.ReadBytesMax.
func (s Values) ListValueBodies(ctx context.Context, page agent.Page) (*agent.ValueList, error) {
	return ask[*agent.ValueList](ctx, s.target, &agent.ListValues{Page: page, Body: true})
}

// ListValues lists values in key order.
func (s Values) ListValues(ctx context.Context, page agent.Page) (*agent.ValueList, error) {
	return ask[*agent.ValueList](ctx, s.target, &agent.ListValues{Page: page})
}
