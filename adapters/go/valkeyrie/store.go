package valkeyrie

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"

	"github.com/kvtools/valkeyrie"
	"github.com/kvtools/valkeyrie/store"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// StoreName is the name of the store for valkeyrie.NewStore.
const StoreName = "dormouse"

func init() { valkeyrie.Register(StoreName, newStore) }

// Config configures a Store; the zero value takes everything from the environment, as
// client.Dial does.
type Config struct {
	Client client.Options // its Endpoints are those of New, unless New has none
}

func newStore(ctx context.Context, endpoints []string, options valkeyrie.Config) (store.Store, error) {
	config, ok := options.(*Config)
	if !ok && options != nil {
		return nil, &store.InvalidConfigurationError{Store: StoreName, Config: options}
	}
	return New(ctx, endpoints, config)
}

// Store is a store.Store. Its methods may be called concurrently.
type Store struct {
	client  *client.Client
	life    context.Context //nolint:containedctx // ends at Close
	endLife context.CancelFunc
	work    sync.WaitGroup // the renewals of locks, and the watches; Go is called by start

	mu     sync.Mutex
	closed bool // guarded by mu
}

var _ store.Store = (*Store)(nil)

// New returns a store on the nodes at endpoints, which are gRPC addresses. Close ends it.
func New(_ context.Context, endpoints []string, config *Config) (*Store, error) {
	var o client.Options
	if config != nil {
		o = config.Client
	}
	if len(endpoints) > 0 {
		o.Endpoints = endpoints
	}
	c, err := client.Dial(o)
	if err != nil {
		return nil, fmt.Errorf("connect to Dormouse: %w", err)
	}
	s := &Store{client: c}
	s.life, s.endLife = context.WithCancel(context.Background())
	return s, nil
}

// start runs f in a goroutine that Close waits for. It fails if the store is closed.
func (s *Store) start(f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("%w: the store is closed", store.ErrNotReachable)
	}
	s.work.Go(f)
	return nil
}

// Close ends watches and the renewal of locks, which lapse with their ttl.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.endLife()
	s.work.Wait()
	return s.client.Close()
}

// Put writes a key. A ttl in opts is the value's; KeepAlive is not supported.
func (s *Store) Put(ctx context.Context, key string, value []byte, opts *store.WriteOptions) error {
	put, err := putOf(key, value, opts)
	if err != nil {
		return err
	}
	_, err = s.client.PutValue(ctx, put)
	return outward(err)
}

// putOf returns the op that writes a key.
func putOf(key string, value []byte, opts *store.WriteOptions) (agent.PutValue, error) {
	put := agent.PutValue{Key: name(key), Bytes: value}
	if opts != nil {
		if opts.KeepAlive {
			return put, fmt.Errorf("%w: KeepAlive, because the ttl of a value is set by writing it", store.ErrCallNotSupported)
		}
		put.TTL = opts.TTL
	}
	return put, nil
}

// Get reads a key; store.ErrKeyNotFound if it does not exist.
func (s *Store) Get(ctx context.Context, key string, _ *store.ReadOptions) (*store.KVPair, error) {
	v, err := s.client.GetValue(ctx, name(key))
	if err != nil {
		return nil, outward(err)
	}
	return pairOf(v), nil
}

// Exists reports whether a key exists.
func (s *Store) Exists(ctx context.Context, key string, opts *store.ReadOptions) (bool, error) {
	switch _, err := s.Get(ctx, key, opts); {
	case errors.Is(err, store.ErrKeyNotFound):
		return false, nil
	default:
		return err == nil, err
	}
}

// Delete deletes a key; store.ErrKeyNotFound if it does not exist.
func (s *Store) Delete(ctx context.Context, key string) error {
	r, err := s.client.DeleteValue(ctx, agent.DeleteValue{Key: name(key)})
	if err != nil {
		return outward(err)
	}
	if !r.Existed {
		return store.ErrKeyNotFound
	}
	return nil
}

// name returns the key of the value that holds a key of valkeyrie, which may begin with
// a slash.
func name(key string) string { return strings.TrimPrefix(key, "/") }

// pairOf returns a value as a pair.
func pairOf(v *agent.Value) *store.KVPair {
	value := v.Bytes
	if value == nil {
		value = []byte{}
	}
	return &store.KVPair{Key: v.Key, Value: value, LastIndex: indexOf(v.Incarnation, v.Revision)}
}

// indexOf returns the LastIndex of a pair: a hash of what identifies one write, since a
// pair has room for one number only. It is never 0.
func indexOf(incarnation, revision uint64) uint64 {
	h := fnv.New64a()
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], incarnation)
	binary.BigEndian.PutUint64(b[8:], revision)
	_, _ = h.Write(b[:]) // a hash never fails
	return max(h.Sum64(), 1)
}

// outward returns err with the error of package store that it is, if there is one.
func outward(err error) error {
	switch agent.CodeOf(err) {
	case agent.CodeNotFound:
		return store.ErrKeyNotFound
	case agent.CodeUnavailable:
		return fmt.Errorf("%w: %w", store.ErrNotReachable, err)
	default:
		return err
	}
}
