package eino

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// PrefixDefault begins the keys of checkpoints if Options name no other prefix.
const PrefixDefault = "eino/"

// ErrChanged is the error of a write in a context of Once whose checkpoint has another
// writer.
var ErrChanged = errors.New("the checkpoint was changed by another run since this run read it: resume from the new one")

// Options configure a Store; the zero value of each field is its default.
type Options struct {
	Prefix string        // of the keys of checkpoints; "" means PrefixDefault
	TTL    time.Duration // of a checkpoint from its last Set; 0 means that it never expires
}

// Store is a checkpoint store that can delete. Its methods may be called concurrently.
type Store struct {
	scope client.Scope
	o     Options
}

var (
	_ compose.CheckPointStore = (*Store)(nil)
	_ adk.CheckPointDeleter   = (*Store)(nil)
)

// New returns a store in a scope, which may be under a claim: then the store writes only
// while the claim is held.
func New(scope client.Scope, o Options) *Store {
	if o.Prefix == "" {
		o.Prefix = PrefixDefault
	}
	return &Store{scope, o}
}

// Get returns a checkpoint, and whether it exists.
func (s *Store) Get(ctx context.Context, id string) ([]byte, bool, error) {
	v, err := s.scope.GetValue(ctx, s.o.Prefix+id)
	switch {
	case agent.CodeOf(err) == agent.CodeNotFound:
		onceOf(ctx).saw(s.o.Prefix+id, version{})
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get checkpoint %s: %w", id, err)
	}
	onceOf(ctx).saw(v.Key, version{v.Incarnation, v.Revision})
	return v.Bytes, true, nil
}

// Set stores a checkpoint of at most agent.ValueBytesMax bytes. In a context of Once the
// error is ErrChanged if it has changed since the run read it.
func (s *Store) Set(ctx context.Context, id string, checkpoint []byte) error {
	put := agent.PutValue{Key: s.o.Prefix + id, Bytes: checkpoint, TTL: s.o.TTL}
	if seen, ok := onceOf(ctx).seen(put.Key); ok {
		put.IfRevision, put.IfIncarnation = &seen.revision, seen.incarnation
	}
	written, err := s.scope.PutValue(ctx, put)
	if err != nil {
		return fmt.Errorf("set checkpoint %s: %w", id, changed(err))
	}
	onceOf(ctx).saw(put.Key, version{written.Incarnation, written.Revision})
	return nil
}

// Delete deletes a checkpoint. It succeeds if there is none. In a context of Once the
// error is ErrChanged if it has changed since the run read it.
func (s *Store) Delete(ctx context.Context, id string) error {
	del := agent.DeleteValue{Key: s.o.Prefix + id}
	if seen, ok := onceOf(ctx).seen(del.Key); ok {
		del.IfRevision, del.IfIncarnation = &seen.revision, seen.incarnation
	}
	if _, err := s.scope.DeleteValue(ctx, del); err != nil {
		return fmt.Errorf("delete checkpoint %s: %w", id, changed(err))
	}
	onceOf(ctx).saw(del.Key, version{})
	return nil
}

// changed adds ErrChanged to the errors of a failed comparison.
func changed(err error) error {
	switch agent.CodeOf(err) {
	case agent.CodeRevisionMismatch, agent.CodeDeleted:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	default:
		return err
	}
}
