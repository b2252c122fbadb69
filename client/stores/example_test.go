package stores_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"dormouse/agent"
	"dormouse/client/stores"
	"dormouse/node/nodetest"
)

// open replaces client.Dial(client.Options{}): it starts a cluster in this process.
func open() (c *nodetest.Node, closeAll func()) {
	c, err := nodetest.Open(nodetest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		if err := c.Close(); err != nil {
			log.Print(err)
		}
	}
}

// A state is replaced only if no other writer was faster.
func ExampleCheckpointer() {
	c, closeAll := open()
	defer closeAll()
	ctx := context.Background()
	var states stores.Checkpointer = stores.Checkpoints{Scope: c.In("acme")}

	revision, err := states.PutAt(ctx, "agent-1", agent.JSON(`{"turn":1}`), 0)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := states.Put(ctx, "agent-1", agent.JSON(`{"turn":2}`)); err != nil { // another writer
		log.Fatal(err)
	}
	_, err = states.PutAt(ctx, "agent-1", agent.JSON(`{"turn":2}`), revision)
	fmt.Println(errors.Is(err, agent.ErrRevisionMismatch))
	// Output: true
}

// Save is the call of the older store: it replaces the whole thread.
func ExampleThreadStore() {
	c, closeAll := open()
	defer closeAll()
	ctx := context.Background()
	var threads stores.ThreadStore = stores.Threads{Scope: c.Scope}

	said := func(text string) agent.Draft {
		return agent.Draft{Kind: agent.KindMessage, Payload: agent.JSON(`{"content":"` + text + `"}`)}
	}
	if _, err := threads.Append(ctx, "chat", said("hello"), said("hi")); err != nil {
		log.Fatal(err)
	}
	if _, err := threads.Save(ctx, "chat", []agent.Draft{said("a summary")}, nil); err != nil {
		log.Fatal(err)
	}
	thread, entries, err := threads.Load(ctx, "chat")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(thread.Rev, string(entries[0].Payload))
	// Output: 1 {"content":"a summary"}
}

// A turn is claimed, run and committed. Its lease fences late writes.
func ExampleSessionLeases() {
	c, closeAll := open()
	defer closeAll()
	ctx := context.Background()
	var sessions stores.SessionStore = c.Scope
	var leases stores.SessionLeases = c.Scope

	if _, err := sessions.StartSession(ctx, agent.PutSession{Session: "order-8812", Agent: "support"}); err != nil {
		log.Fatal(err)
	}
	claimed, err := leases.ClaimSession(ctx, agent.ClaimSession{
		Session: "order-8812", Owner: "worker-1", Request: &agent.SessionRequest{ID: "r1", Input: agent.JSON(`"Where is it?"`)},
	})
	if err != nil {
		log.Fatal(err)
	}
	end := agent.CommitSession{
		Session: "order-8812", Owner: "worker-1", LeaseID: claimed.Session.Lease.LeaseID,
		Status: agent.SessionFinished, Result: agent.JSON(`"On its way."`),
	}
	row, err := leases.CommitSession(ctx, end)
	fmt.Println(row.Status, err)
	_, err = leases.CommitSession(ctx, end)
	fmt.Println(agent.CodeOf(err))
	// Output:
	// finished <nil>
	// stale_session_lease
}

// By default the newest comes first; ModeText searches by words.
func ExampleMemoryStore() {
	c, closeAll := open()
	defer closeAll()
	ctx := context.Background()
	var memories stores.MemoryStore = stores.Memories{Scope: c.Scope}

	for _, content := range []string{"The customer prefers tea.", "The order is 8812."} {
		if _, err := memories.Write(ctx, agent.WriteMemory{Agent: "support", Content: content}); err != nil {
			log.Fatal(err)
		}
	}
	for _, mode := range []string{agent.ModeRecent, agent.ModeText} {
		found, err := memories.Recall(ctx, agent.Recall{Agent: "support", Mode: mode, Query: "tea", Limit: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(mode, found[0].Memory.Content)
	}
	// Output:
	// recent The order is 8812.
	// text The customer prefers tea.
}
