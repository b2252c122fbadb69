package valkeyrie_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	upstream "github.com/kvtools/valkeyrie"
	"github.com/kvtools/valkeyrie/store"
	"github.com/kvtools/valkeyrie/testsuite"

	"dormouse/adapters/go/valkeyrie"
	"dormouse/sdk/go/client"
)

// open returns a store on the first node of DORMOUSE_ENDPOINTS only, which
// internal/withcluster makes a follower. Stores of one scope share their keys.
func open(t *testing.T, scope string) store.Store {
	t.Helper()
	s, err := upstream.NewStore(t.Context(), valkeyrie.StoreName, nil, &valkeyrie.Config{Client: client.Options{Scope: scope, Fixed: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests of the suite close theirs
	return s
}

func TestSuite(t *testing.T) {
	scope := "valkeyrie-" + uuid.NewString()
	kv := open(t, scope)
	t.Run("common", func(t *testing.T) { testsuite.RunTestCommon(t, kv) })
	t.Run("atomic", func(t *testing.T) { testsuite.RunTestAtomic(t, kv) })
	t.Run("watch", func(t *testing.T) { testsuite.RunTestWatch(t, kv) })
	t.Run("lock", func(t *testing.T) { testsuite.RunTestLock(t, kv) })
	t.Run("lock ttl", func(t *testing.T) { testsuite.RunTestLockTTL(t, kv, open(t, scope)) })
	t.Run("list lock", func(t *testing.T) { testsuite.RunTestListLock(t, kv) })
	t.Run("ttl", func(t *testing.T) { testsuite.RunTestTTL(t, kv, open(t, scope)) })
	t.Run("cleanup", func(t *testing.T) { testsuite.RunCleanup(t, kv) })
}

// A pair of a key that was deleted and written again has revision 1 twice: it is the
// incarnation that tells them apart.
func TestAPairOfADeletedKeyWritesNothing(t *testing.T) {
	kv, ctx := open(t, "valkeyrie-"+uuid.NewString()), t.Context()
	_, stale, err := kv.AtomicPut(ctx, "k", []byte("first"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(ctx, "k"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kv.AtomicPut(ctx, "k", []byte("second"), nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kv.AtomicPut(ctx, "k", []byte("lost"), stale, nil); !errors.Is(err, store.ErrKeyModified) {
		t.Errorf("a put of a stale pair: %v", err)
	}
	if _, err := kv.AtomicDelete(ctx, "k", stale); !errors.Is(err, store.ErrKeyModified) {
		t.Errorf("a delete of a stale pair: %v", err)
	}
}

func TestConcurrentAtomicPutsLoseNoUpdate(t *testing.T) {
	kv, ctx := open(t, "valkeyrie-"+uuid.NewString()), t.Context()
	if err := kv.Put(ctx, "counter", []byte{0}, nil); err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 5
	failed := make(chan error, writers)
	for range writers {
		go func() {
			for done := 0; done < each; {
				pair, err := kv.Get(ctx, "counter", nil)
				if err != nil {
					failed <- err
					return
				}
				switch _, _, err := kv.AtomicPut(ctx, "counter", []byte{pair.Value[0] + 1}, pair, nil); {
				case err == nil:
					done++
				case !errors.Is(err, store.ErrKeyModified):
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for range writers {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if pair, err := kv.Get(ctx, "counter", nil); err != nil || pair.Value[0] != writers*each {
		t.Errorf("%v, %v; want %d", pair, err, writers*each)
	}
}

func TestATreeOfManyPagesIsListedAndDeletedWhole(t *testing.T) {
	kv, ctx := open(t, "valkeyrie-"+uuid.NewString()), t.Context()
	const n = 1030 // more than one page of a list, and than one commit
	for i := range n {
		if err := kv.Put(ctx, fmt.Sprintf("dir/%04d", i), []byte("v"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := kv.Put(ctx, "dir2/other", []byte("v"), nil); err != nil {
		t.Fatal(err)
	}
	pairs, err := kv.List(ctx, "/dir", nil)
	if err != nil || len(pairs) != n || pairs[n-1].Key != "dir/1029" {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	if err := kv.DeleteTree(ctx, "dir"); err != nil {
		t.Fatal(err)
	}
	if pairs, err := kv.List(ctx, "dir", nil); !errors.Is(err, store.ErrKeyNotFound) {
		t.Errorf("%d pairs are left, %v", len(pairs), err)
	}
	if ok, err := kv.Exists(ctx, "dir2/other", nil); err != nil || !ok {
		t.Errorf("a key beside the tree: %v, %v", ok, err)
	}
}

// The holder of a lock learns that it lost it, and cannot unlock the next holder's.
func TestALostLockIsNoticed(t *testing.T) {
	kv, ctx := open(t, "valkeyrie-"+uuid.NewString()), t.Context()
	stop := make(chan struct{})
	first, err := kv.NewLock(ctx, "k", &store.LockOptions{TTL: time.Second, RenewLock: stop, Value: []byte("1")})
	if err != nil {
		t.Fatal(err)
	}
	lost, err := first.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	second, err := kv.NewLock(ctx, "k", &store.LockOptions{TTL: 10 * time.Second, Value: []byte("2")})
	if err != nil {
		t.Fatal(err)
	}
	close(stop)
	if _, err := second.Lock(ctx); err != nil { // waits until the first lapses
		t.Fatal(err)
	}
	select {
	case <-lost:
	case <-time.After(5 * time.Second):
		t.Error("the first holder does not learn that it lost the lock")
	}
	if err := first.Unlock(ctx); err == nil {
		t.Error("the first holder unlocked the second's lock")
	}
	if pair, err := kv.Get(ctx, "k", nil); err != nil || string(pair.Value) != "2" {
		t.Errorf("%v, %v", pair, err)
	}
}

func TestWhatIsNotSupportedIsRefused(t *testing.T) {
	kv, ctx := open(t, "valkeyrie-"+uuid.NewString()), t.Context()
	if err := kv.Put(ctx, "k", nil, &store.WriteOptions{TTL: time.Minute, KeepAlive: true}); !errors.Is(err, store.ErrCallNotSupported) {
		t.Errorf("KeepAlive: %v", err)
	}
	if _, err := kv.NewLock(ctx, "k", &store.LockOptions{TTL: time.Millisecond}); err == nil {
		t.Error("a lock of a millisecond")
	}
	if _, _, err := kv.AtomicPut(ctx, "k", nil, &store.KVPair{Key: "k"}, nil); !errors.Is(err, store.ErrKeyNotFound) {
		t.Errorf("an update of a missing key: %v", err)
	}
	if _, err := upstream.NewStore(context.Background(), valkeyrie.StoreName, nil, "text"); err == nil {
		t.Error("a configuration of another type")
	}
}
