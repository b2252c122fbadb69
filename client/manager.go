package client

import (
	"context"

	"dormouse/agent"
)

// PutManager writes a whole manager.
func (s Scope) PutManager(ctx context.Context, put agent.PutManager) (*agent.ManagerResult, error) {
	return do[*agent.ManagerResult](ctx, s, &put)
}

// DeleteManager deletes a manager; deleting a missing one succeeds.
func (s Scope) DeleteManager(ctx context.Context, remove agent.DeleteManager) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s, &remove)
}

// GetManager reads a manager.
func (s Scope) GetManager(ctx context.Context, name string) (*agent.Manager, error) {
	return ask[*agent.Manager](ctx, s, &agent.GetManager{Name: name})
}

// ListManagers lists managers in name order.
func (s Scope) ListManagers(ctx context.Context, page agent.Page) (*agent.ManagerList, error) {
	return ask[*agent.ManagerList](ctx, s, &agent.ListManagers{Page: page})
}
