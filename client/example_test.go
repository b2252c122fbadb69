package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// dial replaces client.Dial(client.Options{}), which connects to a node on this
// machine. It connects to a node over a store in memory.
func dial() (c *client.Client, closeAll func()) {
	s := &fake{}
	server := grpcfront.New(s, s, grpcfront.Options{})
	l := bufconn.Listen(1 << 20)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	c, err := client.Dial(client.Options{Fixed: true, Dialer: func(ctx context.Context, _ string) (net.Conn, error) {
		return l.DialContext(ctx)
	}})
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		_ = c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
		<-served
	}
}

func Example() {
	c, closeAll := dial() // c, err := client.Dial(client.Options{})
	defer closeAll()
	ctx := context.Background()

	hello := agent.Draft{Kind: agent.KindMessage, Payload: agent.JSON(`{"role":"user","content":"hello"}`)}
	appended, err := c.Append(ctx, agent.AppendThread{Thread: "chat", Entries: []agent.Draft{hello}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rev", appended.Thread.Rev)

	for e, err := range c.Entries(ctx, agent.LoadEntries{Thread: "chat"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Kind, string(e.Payload))
	}
	// Output:
	// rev 1
	// 0 message {"role":"user","content":"hello"}
}

// A refused commit was not applied; an unknown one may still apply.
func ExampleClient_Commit() {
	c, closeAll := dial()
	defer closeAll()
	stale := uint64(7)
	_, err := c.Commit(context.Background(), agent.Commit{Ops: []agent.Op{
		&agent.AppendThread{Thread: "chat", ExpectedRev: &stale, Entries: []agent.Draft{{Kind: agent.KindNote}}},
		&agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"turn":8}`)},
	}})
	switch agent.OutcomeOf(err) {
	case agent.Done:
		fmt.Println("applied")
	case agent.Refused:
		fmt.Println("refused:", agent.CodeOf(err))
	case agent.Undecided:
		fmt.Println("the outcome is unknown:", err)
	}
	// Output: refused: conflict
}

// An agent hibernates with its state and thread in one commit, and continues from
// there.
func ExampleAgents_Hibernate() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	_, err := c.Hibernate(ctx,
		agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"mood":"sleepy"}`), Lifecycle: "idle"},
		&agent.HibernateThread{Thread: "chat", Rev: 1, Entries: []agent.Draft{{Kind: agent.KindMessage, Payload: agent.JSON(`{"content":"good night"}`)}}})
	if err != nil {
		log.Fatal(err)
	}
	thawed, err := c.Thaw(ctx, "agent-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(thawed.Checkpoint.State), len(thawed.Entries), "entry, pointer at rev", thawed.Checkpoint.Thread.Rev)
	// Output: {"mood":"sleepy"} 1 entry, pointer at rev 1
}

// The holder of a claim writes under it. A previous holder, which may not know that it
// lost the claim, is refused.
func ExampleScope_Under() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	mine, err := c.TakeClaim(ctx, agent.TakeClaim{Claim: "chat", Holder: "worker-1", TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	note := agent.AppendThread{Thread: "chat", Entries: []agent.Draft{{Kind: agent.KindNote}}}
	_, err = c.Under(mine).Append(ctx, note)
	fmt.Println("while it is held:", err)

	if _, err := c.ReleaseClaim(ctx, agent.ReleaseClaim{Claim: "chat", Holder: "worker-1", Epoch: mine.Epoch, To: "worker-2"}); err != nil {
		log.Fatal(err)
	}
	_, err = c.Under(mine).Append(ctx, note)
	var refusal *agent.Error
	if errors.As(err, &refusal) {
		fmt.Println("afterwards:", refusal.Code, "by", refusal.Holder)
	}
	// Output:
	// while it is held: <nil>
	// afterwards: fenced by worker-2
}
