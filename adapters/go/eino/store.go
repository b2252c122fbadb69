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
	key, run := s.o.Prefix+id, onceOf(ctx)
	if run != nil {
		if err := s.settle(ctx, run, key); err != nil && !errors.Is(err, ErrChanged) {
			return nil, false, fmt.Errorf("get checkpoint %s: %w", id, err)
		}
	}
	v, err := s.scope.GetValue(ctx, key)
	switch {
	case agent.CodeOf(err) == agent.CodeNotFound:
		v = &agent.Value{}
	case err != nil:
		return nil, false, fmt.Errorf("get checkpoint %s: %w", id, err)
	}
	if run != nil {
		run.saw(key, version{v.Incarnation, v.Revision})
	}
	return v.Bytes, err == nil, nil
}

// Set stores a checkpoint of at most agent.ValueBytesMax bytes. In a context of Once the
// error is ErrChanged if it has changed since the run read it.
func (s *Store) Set(ctx context.Context, id string, checkpoint []byte) error {
	put := &agent.PutValue{Key: s.o.Prefix + id, Bytes: checkpoint, TTL: s.o.TTL}
	err := s.write(ctx, put.Key, put, func(seen version) {
		put.IfRevision, put.IfIncarnation = &seen.revision, seen.incarnation
	})
	if err != nil {
		return fmt.Errorf("set checkpoint %s: %w", id, err)
	}
	return nil
}

// Delete deletes a checkpoint. It succeeds if there is none. In a context of Once the
// error is ErrChanged if it has changed since the run read it.
func (s *Store) Delete(ctx context.Context, id string) error {
	del := &agent.DeleteValue{Key: s.o.Prefix + id}
	err := s.write(ctx, del.Key, del, func(seen version) {
		del.IfRevision, del.IfIncarnation = &seen.revision, seen.incarnation
	})
	if err != nil {
		return fmt.Errorf("delete checkpoint %s: %w", id, err)
	}
	return nil
}

// write commits an op on a key. In a context of Once, the op is first compared with what the run has
// seen, by compare.
func (s *Store) write(ctx context.Context, key string, op agent.Op, compare func(seen version)) error {
	run := onceOf(ctx)
	if run == nil {
		_, err := s.scope.Apply(ctx, op)
		return err
	}
	if err := s.settle(ctx, run, key); err != nil {
		return err
	}
	if seen, ok := run.seen(key); ok {
		compare(seen)
	}
	return s.send(ctx, run, key, newWrite(op))
}

// settle sends the run's last write of a key again if its outcome is not known. The next one is then
// compared with what that one left.
func (s *Store) settle(ctx context.Context, run *once, key string) error {
	if w, ok := run.unsettled(key); ok {
		return s.send(ctx, run, key, w)
	}
	return nil
}

// send commits a write, and notes what it left or that its outcome is not known.
func (s *Store) send(ctx context.Context, run *once, key string, w write) error {
	result, err := s.scope.ApplyAs(ctx, w.request, w.op)
	run.note(key, w, err)
	if err != nil {
		return changed(err)
	}
	var left version
	if put, ok := result.Results[0].(*agent.ValueResult); ok {
		left = version{put.Incarnation, put.Revision}
	}
	run.saw(key, left)
	return nil
}

// mismatches returns whether a code is that of a failed comparison.
func mismatches(code agent.Code) bool {
	return code == agent.CodeRevisionMismatch || code == agent.CodeDeleted
}

// changed adds ErrChanged to the errors of a failed comparison.
func changed(err error) error {
	if mismatches(agent.CodeOf(err)) {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}
