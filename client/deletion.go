package client

import (
	"context"

	"dormouse/agent"
)

// DeletePrefix deletes all values, checkpoints or threads whose key begins with a prefix, and waits
// until their rows are removed. If ctx ends first or the receipt cannot be read, it returns the last
// receipt with the error. The deletion has taken effect in that case too, and the cluster continues
// the removal: GetDeletion reads its progress. An error without a receipt is that of the commit.
func (s Scope) DeletePrefix(ctx context.Context, del agent.DeletePrefix) (*agent.PrefixDeletion, error) {
	receipt, err := do[*agent.PrefixDeletion](ctx, s.target, &del)
	if err != nil {
		return nil, err
	}
	return agent.AwaitDeletion(ctx, receipt, func(ctx context.Context) (*agent.PrefixDeletion, error) { return s.GetDeletion(ctx, receipt.ID) })
}

// GetDeletion reads the receipt of a deletion by prefix; not_found without one.
func (s Scope) GetDeletion(ctx context.Context, id string) (*agent.PrefixDeletion, error) {
	return ask[*agent.PrefixDeletion](ctx, s.target, &agent.GetDeletion{ID: id})
}

// ListDeletions lists the receipts of deletions by prefix, the oldest first.
func (s Scope) ListDeletions(ctx context.Context, page agent.Page) (*agent.DeletionList, error) {
	return ask[*agent.DeletionList](ctx, s.target, &agent.ListDeletions{Page: page})
}
