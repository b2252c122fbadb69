package dapr_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	"github.com/google/uuid"

	"dormouse/adapters/go/dapr"
)

func Example() {
	ctx := context.Background()
	store := dapr.NewState()
	properties := map[string]string{"scope": "example-" + uuid.NewString()} // and endpoints, or DORMOUSE_ENDPOINTS
	if err := store.Init(ctx, state.Metadata{Base: metadata.Base{Properties: properties}}); err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()

	if err := store.Set(ctx, &state.SetRequest{Key: "order", Value: map[string]any{"paid": false}}); err != nil {
		log.Fatal(err)
	}
	order, err := store.Get(ctx, &state.GetRequest{Key: "order"})
	if err != nil {
		log.Fatal(err)
	}
	paid := state.SetRequest{Key: "order", Value: map[string]any{"paid": true}, ETag: order.ETag}
	receipt := state.SetRequest{Key: "receipt", Value: "no. 1"}
	transaction := &state.TransactionalStateRequest{Operations: []state.TransactionalStateOperation{paid, receipt}}
	fmt.Println("first:", store.Multi(ctx, transaction))

	var mismatch *state.ETagError
	fmt.Println("again, with the same etag:", errors.As(store.Multi(ctx, transaction), &mismatch))
	// Output:
	// first: <nil>
	// again, with the same etag: true
}
