package dapr

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dapr/components-contrib/lock"
	"github.com/dapr/components-contrib/metadata"
	"github.com/google/uuid"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// Lock is a lock store. Its methods may be called concurrently after InitLockStore.
type Lock struct{ client *client.Client }

var (
	_ lock.Store = (*Lock)(nil)
	_ io.Closer  = (*Lock)(nil)
)

// NewLock returns a lock store that InitLockStore connects.
func NewLock() *Lock { return new(Lock) }

// InitLockStore connects to the cluster that the metadata names.
func (l *Lock) InitLockStore(_ context.Context, meta lock.Metadata) (err error) {
	l.client, err = connect(meta.Properties)
	return err
}

// Close closes the connections. Locks stay until they expire.
func (l *Lock) Close() error {
	if l.client == nil {
		return nil
	}
	return l.client.Close()
}

// GetComponentMetadata describes the metadata of the component.
func (l *Lock) GetComponentMetadata() metadata.MetadataMap { return describe(metadata.LockStoreType) }

// holderOf returns the holder of the claim of a new lock: the owner after an id of the one
// acquisition. A claim may be taken again by its holder, and a lock of Dapr may not.
func holderOf(owner string) string { return uuid.NewString() + "/" + owner }

func ownerIn(holder string) string {
	_, owner, _ := strings.Cut(holder, "/")
	return owner
}

// TryLock takes a lock for a time, unless any owner holds it.
func (l *Lock) TryLock(ctx context.Context, req *lock.TryLockRequest) (*lock.TryLockResponse, error) {
	ttl := time.Duration(req.ExpiryInSeconds) * time.Second
	if ttl < agent.ClaimTTLMin || ttl > agent.ClaimTTLMax {
		return nil, fmt.Errorf("lock %s: expiryInSeconds is %d: give 1 to %d", req.ResourceID, req.ExpiryInSeconds, int(agent.ClaimTTLMax.Seconds()))
	}
	_, err := l.client.TakeClaim(ctx, agent.TakeClaim{Claim: req.ResourceID, Holder: holderOf(req.LockOwner), TTL: ttl})
	switch {
	case err == nil:
		return &lock.TryLockResponse{Success: true}, nil
	case agent.CodeOf(err) == agent.CodeAlreadyClaimed:
		return &lock.TryLockResponse{}, nil
	default:
		return nil, fmt.Errorf("lock %s: %w", req.ResourceID, err)
	}
}

// Unlock releases a lock of its owner.
func (l *Lock) Unlock(ctx context.Context, req *lock.UnlockRequest) (*lock.UnlockResponse, error) {
	for {
		held, err := l.client.GetClaim(ctx, req.ResourceID)
		switch {
		case agent.CodeOf(err) == agent.CodeNotFound || err == nil && !held.Held():
			return &lock.UnlockResponse{Status: lock.LockDoesNotExist}, nil
		case err != nil:
			return &lock.UnlockResponse{Status: lock.InternalError}, fmt.Errorf("unlock %s: %w", req.ResourceID, err)
		case ownerIn(held.Holder) != req.LockOwner:
			return &lock.UnlockResponse{Status: lock.LockBelongsToOthers}, nil
		}
		_, err = l.client.ReleaseClaim(ctx, agent.ReleaseClaim{Claim: req.ResourceID, Holder: held.Holder, Epoch: held.Epoch})
		switch {
		case err == nil:
			return &lock.UnlockResponse{Status: lock.Success}, nil
		case agent.CodeOf(err) != agent.CodeFenced:
			return &lock.UnlockResponse{Status: lock.InternalError}, fmt.Errorf("unlock %s: %w", req.ResourceID, err)
		} // it expired since it was read, and another may hold it
	}
}
