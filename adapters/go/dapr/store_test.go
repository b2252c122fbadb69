package dapr_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dapr/components-contrib/lock"
	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	lockconformance "github.com/dapr/components-contrib/tests/conformance/lock"
	conformance "github.com/dapr/components-contrib/tests/conformance/state"
	"github.com/google/uuid"

	"dormouse/adapters/go/dapr"
	"dormouse/sdk/go/agent"
)

// inScope returns the metadata of a component that uses the first node of
// DORMOUSE_ENDPOINTS only, which internal/withcluster makes a follower, in a scope of its
// own.
func inScope() map[string]string {
	return map[string]string{"scope": "dapr-" + uuid.NewString(), "fixed": "true"}
}

// without hides a feature, so that the suite runs what it runs for stores without it.
type without struct {
	*dapr.State
	feature state.Feature
}

func (w without) Features() (kept []state.Feature) { return less(w.State.Features(), w.feature) }

func less(features []state.Feature, hidden state.Feature) (kept []state.Feature) {
	for _, f := range features {
		if f != hidden {
			kept = append(kept, f)
		}
	}
	return kept
}

func conform(t *testing.T, store state.Store, operations ...string) {
	t.Helper()
	config, err := conformance.NewTestConfig("dormouse", operations, nil)
	if err != nil {
		t.Fatal(err)
	}
	conformance.ConformanceTests(t, inScope(), store, config)
}

func closed(t *testing.T, close func() error) {
	t.Helper()
	t.Cleanup(func() {
		if err := close(); err != nil {
			t.Error(err)
		}
	})
}

func TestStateConformance(t *testing.T) {
	s := dapr.NewState()
	closed(t, s.Close)
	conform(t, s, "transaction", "etag", "first-write", "ttl", "delete-with-prefix")
}

// The suite checks the time of expiry only if the store does not list ttl.
func TestStateConformanceOfExpiry(t *testing.T) {
	s := dapr.NewState()
	closed(t, s.Close)
	conform(t, without{s, state.FeatureTTL}, "transaction", "etag", "first-write", "delete-with-prefix")
}

func TestLockConformance(t *testing.T) {
	l := dapr.NewLock()
	closed(t, l.Close)
	config, err := lockconformance.NewTestConfig("dormouse", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	lockconformance.ConformanceTests(t, inScope(), l, config)
}

func open(t *testing.T) *dapr.State {
	t.Helper()
	s := dapr.NewState()
	if err := s.Init(t.Context(), state.Metadata{Base: metadata.Base{Properties: inScope()}}); err != nil {
		t.Fatal(err)
	}
	closed(t, s.Close)
	return s
}

func set(t *testing.T, s state.Store, key, value string, etag *string) error {
	t.Helper()
	return s.Set(t.Context(), &state.SetRequest{Key: key, Value: []byte(value), ETag: etag})
}

func get(t *testing.T, s state.Store, key string) *state.GetResponse {
	t.Helper()
	r, err := s.Get(t.Context(), &state.GetRequest{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func isMismatch(err error) bool {
	var etag *state.ETagError
	return errors.As(err, &etag) && etag.Kind() == state.ETagMismatch
}

func TestAnEtagOfADeletedKeyMatchesNothing(t *testing.T) {
	s := open(t)
	if err := set(t, s, "k", "first", nil); err != nil {
		t.Fatal(err)
	}
	stale := get(t, s, "k").ETag
	if err := s.Delete(t.Context(), &state.DeleteRequest{Key: "k", ETag: stale}); err != nil {
		t.Fatal(err)
	}
	if err := set(t, s, "k", "lost", stale); !isMismatch(err) {
		t.Errorf("a write of a deleted key: %v", err)
	}
	if err := set(t, s, "k", "second", nil); err != nil {
		t.Fatal(err)
	}
	if err := set(t, s, "k", "lost", stale); !isMismatch(err) {
		t.Errorf("a write with the etag of the deleted one: %v", err)
	}
	if err := s.Delete(t.Context(), &state.DeleteRequest{Key: "k", ETag: stale}); !isMismatch(err) {
		t.Errorf("a delete with the etag of the deleted one: %v", err)
	}
}

func TestATransactionAppliesWholeOrNotAtAll(t *testing.T) {
	s := open(t)
	if err := set(t, s, "guarded", "1", nil); err != nil {
		t.Fatal(err)
	}
	stale := get(t, s, "guarded").ETag
	if err := set(t, s, "guarded", "2", stale); err != nil {
		t.Fatal(err)
	}
	operations := []state.TransactionalStateOperation{
		state.SetRequest{Key: "other", Value: []byte("x")},
		state.SetRequest{Key: "guarded", Value: []byte("lost"), ETag: stale},
	}
	if err := s.Multi(t.Context(), &state.TransactionalStateRequest{Operations: operations}); !isMismatch(err) {
		t.Errorf("a transaction with a stale etag: %v", err)
	}
	if got := get(t, s, "other"); got.Data != nil {
		t.Errorf("a part of it was applied: %q", got.Data)
	}
	many := make([]state.TransactionalStateOperation, s.MultiMaxSize()+1)
	for i := range many {
		many[i] = state.SetRequest{Key: fmt.Sprint(i), Value: []byte("x")}
	}
	if err := s.Multi(t.Context(), &state.TransactionalStateRequest{Operations: many}); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("a transaction over the limit: %v", err)
	}
	if err := s.Multi(t.Context(), &state.TransactionalStateRequest{Operations: many[1:]}); err != nil {
		t.Errorf("a transaction at the limit: %v", err)
	}
}

// A time that does not fit into 64 bits of nanoseconds must not become a short one, after which the value is gone.
func TestATimeToLiveThatIsTooLongIsRefused(t *testing.T) {
	s := open(t)
	for _, seconds := range []string{"18446744074", "9223372037", "315360001"} {
		err := s.Set(t.Context(), &state.SetRequest{Key: "long", Value: []byte("v"), Metadata: map[string]string{"ttlInSeconds": seconds}})
		if err == nil || !strings.Contains(err.Error(), "315360000") {
			t.Errorf("a value with a ttl of %s s: %v", seconds, err)
		}
	}
	if err := s.Set(t.Context(), &state.SetRequest{Key: "long", Value: []byte("v"), Metadata: map[string]string{"ttlInSeconds": "315360000"}}); err != nil {
		t.Error(err)
	}
}

func TestAValueKeepsItsContentTypeAndItsEmptiness(t *testing.T) {
	s, html := open(t), "text/html"
	if err := s.Set(t.Context(), &state.SetRequest{Key: "k", Value: []byte{}, ContentType: &html}); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, "k"); r.Data == nil || len(r.Data) > 0 || r.ContentType == nil || *r.ContentType != html {
		t.Errorf("%+v", r)
	}
}

func TestAnExpiredHolderUnlocksNothing(t *testing.T) {
	l, ctx := dapr.NewLock(), t.Context()
	if err := l.InitLockStore(ctx, lock.Metadata{Base: metadata.Base{Properties: inScope()}}); err != nil {
		t.Fatal(err)
	}
	closed(t, l.Close)
	take := func(owner string, seconds int32) bool {
		r, err := l.TryLock(ctx, &lock.TryLockRequest{ResourceID: "r", LockOwner: owner, ExpiryInSeconds: seconds})
		if err != nil {
			t.Fatal(err)
		}
		return r.Success
	}
	if !take("a/b", 1) {
		t.Fatal("a new lock is held")
	}
	for deadline := time.Now().Add(10 * time.Second); !take("c", 60); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the lock does not expire")
		}
	}
	if r, err := l.Unlock(ctx, &lock.UnlockRequest{ResourceID: "r", LockOwner: "a/b"}); err != nil || r.Status != lock.LockBelongsToOthers {
		t.Errorf("the earlier holder unlocks: %+v, %v", r, err)
	}
	if r, err := l.Unlock(ctx, &lock.UnlockRequest{ResourceID: "r", LockOwner: "c"}); err != nil || r.Status != lock.Success {
		t.Errorf("the holder unlocks: %+v, %v", r, err)
	}
	if _, err := l.TryLock(context.WithoutCancel(ctx), &lock.TryLockRequest{ResourceID: "r", LockOwner: "c"}); err == nil {
		t.Error("a lock without an expiry")
	}
}
