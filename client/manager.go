package client

import (
	"context"

	"dormouse/agent"
)

// PutManager creates or replaces a manager. Instances that are awake follow the change
// within a second. If IfRevision does not hold, the error is revision_mismatch.
func (s Managers) PutManager(ctx context.Context, put agent.PutManager) (*agent.ManagerResult, error) {
	return do[*agent.ManagerResult](ctx, s.target, &put)
}

// DeleteManager deletes a manager; deleting a missing one succeeds.
func (s Managers) DeleteManager(ctx context.Context, remove agent.DeleteManager) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &remove)
}

// GetManager reads a manager; not_found if it does not exist.
func (s Managers) GetManager(ctx context.Context, name string) (*agent.Manager, error) {
	return ask[*agent.Manager](ctx, s.target, &agent.GetManager{Name: name})
}

// ListManagers lists managers in name order.
func (s Managers) ListManagers(ctx context.Context, page agent.Page) (*agent.ManagerList, error) {
	return ask[*agent.ManagerList](ctx, s.target, &agent.ListManagers{Page: page})
}
