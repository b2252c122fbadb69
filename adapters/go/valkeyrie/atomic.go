package valkeyrie

import (
	"context"

	"github.com/kvtools/valkeyrie/store"

	"dormouse/sdk/go/agent"
)

// AtomicPut writes a key if it is as previous was read, or if it does not exist and
// previous is nil.
//
// The error is store.ErrKeyExists or store.ErrKeyModified if it is not. For other errors
// agent.OutcomeOf returns whether the write may have been applied.
func (s *Store) AtomicPut(ctx context.Context, key string, value []byte, previous *store.KVPair, opts *store.WriteOptions) (bool, *store.KVPair, error) {
	put, err := putOf(key, value, opts)
	if err != nil {
		return false, nil, err
	}
	refused := store.ErrKeyExists
	if previous == nil {
		put.IfRevision = new(uint64) // must not exist
	} else {
		refused = store.ErrKeyModified
		stored, err := s.unchanged(ctx, put.Key, previous)
		if err != nil {
			return false, nil, err
		}
		put.IfRevision, put.IfIncarnation = &stored.Revision, stored.Incarnation
	}
	written, err := s.client.PutValue(ctx, put)
	if err != nil {
		return false, nil, compared(err, refused)
	}
	return true, &store.KVPair{Key: put.Key, Value: value, LastIndex: indexOf(written.Incarnation, written.Revision)}, nil
}

// AtomicDelete deletes a key if it is as previous was read.
func (s *Store) AtomicDelete(ctx context.Context, key string, previous *store.KVPair) (bool, error) {
	if previous == nil {
		return false, store.ErrPreviousNotSpecified
	}
	stored, err := s.unchanged(ctx, name(key), previous)
	if err != nil {
		return false, err
	}
	del := agent.DeleteValue{Key: stored.Key, IfRevision: &stored.Revision, IfIncarnation: stored.Incarnation}
	if _, err := s.client.DeleteValue(ctx, del); err != nil {
		return false, compared(err, store.ErrKeyModified)
	}
	return true, nil
}

// unchanged reads a key, and returns store.ErrKeyModified if it is not as previous was
// read. The write that follows names the revision: a change in between is refused.
func (s *Store) unchanged(ctx context.Context, key string, previous *store.KVPair) (*agent.Value, error) {
	stored, err := s.client.GetValue(ctx, key)
	if err != nil {
		return nil, outward(err)
	}
	if indexOf(stored.Incarnation, stored.Revision) != previous.LastIndex {
		return nil, store.ErrKeyModified
	}
	return stored, nil
}

// compared returns refused for the errors of a failed comparison.
func compared(err, refused error) error {
	switch agent.CodeOf(err) {
	case agent.CodeRevisionMismatch, agent.CodeDeleted, agent.CodeAlreadyExists:
		return refused
	default:
		return outward(err)
	}
}
