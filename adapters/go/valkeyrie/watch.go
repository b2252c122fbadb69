package valkeyrie

import (
	"context"
	"strings"
	"time"

	"github.com/kvtools/valkeyrie/store"

	"dormouse/sdk/go/agent"
)

// watchPause is the pause before a watch reads again after an error.
const watchPause = time.Second

// Watch sends the pair of a key, and again after each change until ctx ends or the store
// closes. A pair without a value means that the key does not exist. If changes are
// faster than the receiver, it gets the last one.
func (s *Store) Watch(ctx context.Context, key string, _ *store.ReadOptions) (<-chan *store.KVPair, error) {
	key = name(key)
	read := func(ctx context.Context) (*store.KVPair, uint64, error) {
		answers, err := s.client.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: key}}})
		if err != nil {
			return nil, 0, err
		}
		switch a := answers.Answers[0]; {
		case a.Err == nil:
			return pairOf(a.Found.(*agent.Value)), answers.Index, nil
		case isNotFound(a.Err):
			return &store.KVPair{Key: key}, answers.Index, nil
		default:
			return nil, 0, a.Err
		}
	}
	return follow(ctx, s, key, func(changed string) bool { return changed == key }, read)
}

// WatchTree sends the pairs below a directory, and again after each change of one of
// them until ctx ends or the store closes.
func (s *Store) WatchTree(ctx context.Context, directory string, _ *store.ReadOptions) (<-chan []*store.KVPair, error) {
	read := func(ctx context.Context) ([]*store.KVPair, uint64, error) { return s.list(ctx, directory) }
	prefix := below(directory)
	return follow(ctx, s, prefix, func(changed string) bool { return strings.HasPrefix(changed, prefix) }, read)
}

// follow reads and sends a state, and again after each change of a key with the prefix
// that concerns it. read also returns the index of what it read.
func follow[T any](ctx context.Context, s *Store, prefix string, concerns func(key string) bool, read func(context.Context) (T, uint64, error)) (<-chan T, error) {
	state, index, err := read(ctx)
	if err != nil {
		return nil, outward(err)
	}
	states := make(chan T, 1)
	states <- state
	ctx, cancel := context.WithCancel(ctx)
	release := context.AfterFunc(s.life, cancel)
	err = s.start(func() {
		defer close(states)
		defer cancel()
		defer release()
		for ctx.Err() == nil {
			for change, err := range s.client.Changes(ctx, agent.Watch{From: index + 1, Prefix: string(agent.ChangedValue) + "/" + prefix}) {
				// An error ends the feed: the changes are not kept that long, or no node
				// answers. The state is then read again, and the feed begins after it.
				if err == nil && (change.Index <= index || !concerns(change.Key)) {
					continue
				}
				if !again(ctx, &index, states, read) {
					return
				}
			}
		}
	})
	if err != nil {
		release()
		cancel()
		return nil, err
	}
	return states, nil
}

// again reads and sends the state, after pauses if it cannot be read. It reports whether
// ctx has not ended.
func again[T any](ctx context.Context, index *uint64, states chan<- T, read func(context.Context) (T, uint64, error)) bool {
	for {
		state, at, err := read(ctx)
		if err == nil {
			*index = at
			select {
			case states <- state:
				return true
			case <-ctx.Done():
				return false
			}
		}
		select {
		case <-time.After(watchPause):
		case <-ctx.Done():
			return false
		}
	}
}
