package valkeyrie_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/google/uuid"
	"github.com/kvtools/valkeyrie"
	"github.com/kvtools/valkeyrie/store"

	dormouse "dormouse/adapters/go/valkeyrie"
	"dormouse/sdk/go/client"
)

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config := &dormouse.Config{Client: client.Options{Scope: "example-" + uuid.NewString()}}
	kv, err := valkeyrie.NewStore(ctx, dormouse.StoreName, nil, config) // nil: DORMOUSE_ENDPOINTS
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = kv.Close() }()

	lock, err := kv.NewLock(ctx, "plan", &store.LockOptions{Value: []byte("draft"), TTL: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := lock.Lock(ctx); err != nil {
		log.Fatal(err)
	}
	plan, err := kv.Get(ctx, "plan", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = kv.AtomicPut(ctx, "plan", []byte("final"), plan, nil)
	fmt.Println("first:", err)
	_, _, err = kv.AtomicPut(ctx, "plan", []byte("lost"), plan, nil)
	fmt.Println("again, from the same pair:", errors.Is(err, store.ErrKeyModified))
	fmt.Println("unlock:", lock.Unlock(ctx))
	// Output:
	// first: <nil>
	// again, from the same pair: true
	// unlock: <nil>
}
