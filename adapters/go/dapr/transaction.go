package dapr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dapr/components-contrib/state"

	"dormouse/sdk/go/agent"
)

// MultiMaxSize returns how many operations a transaction may have.
func (s *State) MultiMaxSize() int { return agent.CommitOpsMax }

// Multi applies the operations in their order, all or none.
func (s *State) Multi(ctx context.Context, req *state.TransactionalStateRequest) error {
	ops := make([]agent.Op, 0, len(req.Operations))
	for i, operation := range req.Operations {
		op, err := opOf(operation)
		if err != nil {
			return fmt.Errorf("operation %d of the transaction: %w", i, err)
		}
		ops = append(ops, op)
	}
	if len(ops) == 0 {
		return nil
	}
	_, err := s.client.Apply(ctx, ops...)
	key := ""
	if e := (*agent.Error)(nil); errors.As(err, &e) && e.Op >= 0 && e.Op < len(ops) {
		key = req.Operations[e.Op].GetKey()
	}
	return outward("transaction: operation on key", key, err)
}

// opOf returns the op of an operation of a transaction.
func opOf(operation state.TransactionalStateOperation) (agent.Op, error) {
	switch o := operation.(type) {
	case state.SetRequest:
		return putOf(&o)
	case *state.SetRequest:
		return putOf(o)
	case state.DeleteRequest:
		return deleteOf(&o)
	case *state.DeleteRequest:
		return deleteOf(o)
	default:
		return nil, fmt.Errorf("a %T is neither a set nor a delete", operation)
	}
}

// DeleteWithPrefix deletes the keys that begin with a prefix and have no further "||". Up
// to agent.CommitOpsMax keys are deleted in one commit; more take several.
func (s *State) DeleteWithPrefix(ctx context.Context, req state.DeleteWithPrefixRequest) (state.DeleteWithPrefixResponse, error) {
	var r state.DeleteWithPrefixResponse
	if err := req.Validate(); err != nil { // also completes the prefix
		return r, err
	}
	var ops []agent.Op
	page := agent.Page{Prefix: req.Prefix, Limit: agent.ListLimitMax}
	for {
		found, err := s.client.ListValues(ctx, page)
		if err != nil {
			return r, fmt.Errorf("delete keys with prefix %s: %w", req.Prefix, err)
		}
		for _, row := range found.Items {
			if !strings.Contains(strings.TrimPrefix(row.Key, req.Prefix), "||") {
				ops = append(ops, &agent.DeleteValue{Key: row.Key})
			}
		}
		if page.After = found.Next; page.After == "" {
			break
		}
	}
	for some := range slices.Chunk(ops, agent.CommitOpsMax) {
		result, err := s.client.Apply(ctx, some...)
		if err != nil {
			return r, fmt.Errorf("delete keys with prefix %s: %w", req.Prefix, err)
		}
		for _, one := range result.Results {
			if one.(*agent.DeleteResult).Existed {
				r.Count++
			}
		}
	}
	return r, nil
}
