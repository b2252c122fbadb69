package valkeyrie

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/kvtools/valkeyrie/store"

	"dormouse/sdk/go/agent"
)

// locker is a lock: a claim with the name of the key, and the key's value with it.
type locker struct {
	store  *Store
	key    string
	value  []byte // nil means that the lock leaves the key as it is
	ttl    time.Duration
	remove bool            // the key with the lock
	stop   <-chan struct{} // closed by the caller to end renewal; may be nil

	mu   sync.Mutex
	held *holding // nil if it is not held; guarded by mu
}

// holding is one holding of a lock.
type holding struct {
	claim agent.Claim
	end   context.CancelFunc // of its renewal
}

// NewLock returns a lock on a key. Its ttl is agent.ClaimTTLDefault if opts has none, and
// at least agent.ClaimTTLMin.
func (s *Store) NewLock(_ context.Context, key string, opts *store.LockOptions) (store.Locker, error) {
	l := &locker{store: s, key: name(key), ttl: agent.ClaimTTLDefault}
	if opts != nil {
		l.value, l.remove, l.stop = opts.Value, opts.DeleteOnUnlock, opts.RenewLock
		if opts.TTL != 0 {
			l.ttl = opts.TTL
		}
	}
	if l.ttl < agent.ClaimTTLMin || l.ttl > agent.ClaimTTLMax {
		return nil, fmt.Errorf("the ttl of a lock is %v: give one from %v to %v", l.ttl, agent.ClaimTTLMin, agent.ClaimTTLMax)
	}
	return l, nil
}

// Lock waits until it holds the lock, and keeps it renewed. The channel closes when the
// lock is lost or unlocked.
func (l *locker) Lock(ctx context.Context) (<-chan struct{}, error) {
	holder := uuid.NewString()
	for {
		asked := time.Now()
		claim, err := l.take(ctx, holder)
		if err == nil {
			return l.hold(claim, asked)
		}
		if agent.CodeOf(err) != agent.CodeAlreadyClaimed {
			return nil, fmt.Errorf("%w: %w", store.ErrCannotLock, err)
		}
		if err := l.free(ctx); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrCannotLock, err)
		}
	}
}

// Unlock releases the lock. It returns an error if the lock is not held any more.
func (l *locker) Unlock(ctx context.Context) error {
	l.mu.Lock()
	held := l.held
	l.held = nil
	l.mu.Unlock()
	if held == nil {
		return errors.New("unlock: the lock is not held: call Lock first")
	}
	held.end()
	ops := []agent.Op{&agent.ReleaseClaim{Claim: l.key, Holder: held.claim.Holder, Epoch: held.claim.Epoch}}
	if l.remove {
		ops = append(ops, &agent.DeleteValue{Key: l.key})
	}
	if _, err := l.store.client.Apply(ctx, ops...); err != nil {
		return fmt.Errorf("unlock %s: %w", l.key, outward(err))
	}
	return nil
}

// take takes the claim and writes the value, both or neither.
func (l *locker) take(ctx context.Context, holder string) (agent.Claim, error) {
	ops := append([]agent.Op{&agent.TakeClaim{Claim: l.key, Holder: holder, TTL: l.ttl}}, l.write()...)
	result, err := l.store.client.Apply(ctx, ops...)
	if err != nil {
		return agent.Claim{}, err
	}
	return result.Results[0].(*agent.ClaimResult).Claim, nil
}

// write returns the op that writes the value, if the lock has one. A value that goes with
// the lock expires with it.
func (l *locker) write() []agent.Op {
	if l.value == nil {
		return nil
	}
	put := &agent.PutValue{Key: l.key, Bytes: l.value}
	if l.remove {
		put.TTL = l.ttl
	}
	return []agent.Op{put}
}

// free waits until the claim has no holder.
func (l *locker) free(ctx context.Context) error {
	for event, err := range l.store.client.Watch(ctx, agent.Watch{Claim: l.key}) {
		if err != nil {
			return err
		}
		if event.Last() || !event.Claim.Held() {
			return nil
		}
	}
	return ctx.Err()
}

// hold keeps the claim renewed. The claim was asked for at asked.
func (l *locker) hold(claim agent.Claim, asked time.Time) (<-chan struct{}, error) {
	ctx, cancel := context.WithCancel(l.store.life)
	lost := make(chan struct{})
	if err := l.store.start(func() {
		defer close(lost)
		defer cancel()
		l.renew(ctx, claim, asked)
	}); err != nil {
		cancel()
		return nil, err // the claim lapses
	}
	l.mu.Lock()
	l.held = &holding{claim, cancel}
	l.mu.Unlock()
	return lost, nil
}

// renew renews the claim three times a ttl, until ctx ends or the claim is lost. It takes
// the claim for lost when a ttl has passed since the last call that renewed it began.
func (l *locker) renew(ctx context.Context, claim agent.Claim, asked time.Time) {
	tick := time.NewTicker(l.ttl / 3)
	defer tick.Stop()
	stop, ops := l.stop, []agent.Op{&agent.RenewClaim{Claim: l.key, Holder: claim.Holder, Epoch: claim.Epoch}}
	if l.remove {
		ops = append(ops, l.write()...) // with a new ttl
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-stop:
			tick.Stop()
			stop = nil
		case <-time.After(time.Until(asked.Add(l.ttl))):
			return
		case began := <-tick.C:
			attempt, cancel := context.WithDeadline(ctx, asked.Add(l.ttl))
			_, err := l.store.client.Apply(attempt, ops...)
			cancel()
			switch {
			case err == nil:
				asked = began
			case agent.CodeOf(err) == agent.CodeFenced:
				return
			}
		}
	}
}
