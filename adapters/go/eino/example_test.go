package eino_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cloudwego/eino/compose"
	"github.com/google/uuid"

	dormouse "dormouse/adapters/go/eino"
	"dormouse/sdk/go/client"
)

func Example() {
	ctx := context.Background()
	c, err := client.Dial(client.Options{Scope: "example-" + uuid.NewString()}) // DORMOUSE_ENDPOINTS
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	checkpoints := dormouse.New(c.Scope, dormouse.Options{})

	chain := compose.NewChain[string, string]()
	chain.AppendLambda(compose.InvokableLambda(func(_ context.Context, in string) (string, error) { return in + " drafted", nil }))
	chain.AppendLambda(compose.InvokableLambda(func(_ context.Context, in string) (string, error) { return in + ", sent", nil }), compose.WithNodeKey("send"))
	letter, err := chain.Compile(ctx, compose.WithCheckPointStore(checkpoints), compose.WithInterruptBeforeNodes([]string{"send"}))
	if err != nil {
		log.Fatal(err)
	}

	_, err = letter.Invoke(ctx, "letter", compose.WithCheckPointID("letter-1"))
	_, interrupted := compose.ExtractInterruptInfo(err)
	fmt.Println("interrupted:", interrupted)

	// Any process that has the chain resumes it. Once refuses a second one's checkpoint.
	done, err := letter.Invoke(dormouse.Once(ctx), "", compose.WithCheckPointID("letter-1"))
	fmt.Println(done, err)
	fmt.Println("deleted:", checkpoints.Delete(ctx, "letter-1"))
	// Output:
	// interrupted: true
	// letter drafted, sent <nil>
	// deleted: <nil>
}
