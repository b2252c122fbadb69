// Command example appends to a thread at an expected revision, under a claim.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	c, err := client.Dial(client.Options{Scope: "example"}) // DORMOUSE_ENDPOINTS names the nodes
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	mine, err := c.TakeClaim(ctx, agent.TakeClaim{Claim: "chat", Holder: "worker-1", TTL: 10 * time.Second})
	if err != nil {
		return err
	}
	rev := uint64(0)
	hello := agent.AppendThread{Thread: "chat", ExpectedRev: &rev, Entries: []agent.Draft{
		{Kind: agent.KindMessage, Payload: agent.JSON(`{"role":"user","content":"hello"}`)},
	}}
	appended, err := c.Under(mine).Append(ctx, hello)
	if err != nil {
		return err
	}
	fmt.Println("at revision", appended.Thread.Rev)

	_, err = c.Under(mine).Append(ctx, hello) // the thread has another revision now
	fmt.Println("again:", agent.CodeOf(err))

	if _, err := c.ReleaseClaim(ctx, agent.ReleaseClaim{Claim: "chat", Holder: "worker-1", Epoch: mine.Epoch}); err != nil {
		return err
	}
	_, err = c.Under(mine).Append(ctx, hello)
	fmt.Println("after the claim:", agent.CodeOf(err))

	for e, err := range c.Entries(ctx, agent.LoadEntries{Thread: "chat"}) {
		if err != nil {
			return err
		}
		fmt.Println(e.Seq, string(e.Payload))
	}
	_, err = c.DeleteThread(ctx, agent.DeleteThread{Thread: "chat"})
	return err
}
