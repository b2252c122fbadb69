package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

// A client of a cluster with TLS, whose nodes have certificates of one authority. Without
// options, Dial reads the same settings from environment variables such as EnvEndpoints.
func ExampleDial() {
	c, err := client.Dial(client.Options{
		Endpoints: []string{"n1.example.com:7601", "n2.example.com:7601"}, // the client learns the other nodes
		TLS:       &tls.Config{MinVersion: tls.VersionTLS13},
		Scope:     "tenant-7",
		Timeout:   5 * time.Second, // of calls whose context has no deadline
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()
}

// Two writers change one checkpoint. Each writes only at the revision that it has read, so
// none overwrites the other: the later one reads again.
func ExampleCheckpoints_PutCheckpoint() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	absent := uint64(0)
	first, err := c.PutCheckpoint(ctx, agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"turn":1}`), IfRevision: &absent})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.PutCheckpoint(ctx, agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"turn":2}`), IfRevision: &first.Revision}); err != nil {
		log.Fatal(err)
	}

	_, err = c.PutCheckpoint(ctx, agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"turn":9}`), IfRevision: &first.Revision})
	fmt.Println("the later writer:", errors.Is(err, agent.ErrRevisionMismatch))

	current, err := c.GetCheckpoint(ctx, "agent-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("revision", current.Revision, string(current.State))
	// Output:
	// the later writer: true
	// revision 2 {"turn":2}
}

// A missing value is an error of its own, and not an empty value.
func ExampleValues_GetValue() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	_, err := c.GetValue(ctx, "settings")
	fmt.Println("missing:", errors.Is(err, agent.ErrNotFound))

	if _, err := c.PutValue(ctx, agent.PutValue{Key: "settings", ContentType: "text/plain", Bytes: []byte("dark"), TTL: time.Hour}); err != nil {
		log.Fatal(err)
	}
	v, err := c.GetValue(ctx, "settings")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, revision %d\n", v.Bytes, v.Revision)
	// Output:
	// missing: true
	// dark, revision 1
}

// The messages of a turn and the state after it are one commit: either both are stored, or
// neither.
func ExampleScope_Apply() {
	c, closeAll := dial()
	defer closeAll()
	result, err := c.Apply(context.Background(),
		&agent.AppendThread{Thread: "chat", Entries: []agent.Draft{{Kind: agent.KindMessage, Payload: agent.JSON(`{"content":"hello"}`)}}},
		&agent.PutCheckpoint{Key: "agent-1", State: agent.JSON(`{"greeted":true}`), Thread: &agent.Pointer{Thread: "chat", Rev: 1}},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range result.Results {
		switch r := r.(type) {
		case *agent.ThreadResult:
			fmt.Println("thread at rev", r.Thread.Rev)
		case *agent.CheckpointResult:
			fmt.Println("checkpoint at revision", r.Revision)
		}
	}
	// Output:
	// thread at rev 1
	// checkpoint at revision 1
}

// Several reads see the same state: that of one index of the log.
func ExampleFoundIn() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	if _, err := c.PutValue(ctx, agent.PutValue{Key: "theme", Bytes: []byte("dark")}); err != nil {
		log.Fatal(err)
	}
	answers, err := c.Scope.Read(ctx, &agent.GetValue{Key: "theme"}, &agent.GetCheckpoint{Key: "agent-1"})
	if err != nil {
		log.Fatal(err)
	}
	theme, err := client.FoundIn[*agent.Value](answers, 0)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.FoundIn[*agent.Checkpoint](answers, 1)
	fmt.Printf("%s; the checkpoint: %s\n", theme.Bytes, agent.CodeOf(err))
	// Output: dark; the checkpoint: not_found
}

// A list is read page by page.
func ExampleThreads_ListThreads() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	for _, thread := range []string{"chat/1", "chat/2", "chat/3", "notes"} {
		if _, err := c.Append(ctx, agent.AppendThread{Thread: thread, Entries: []agent.Draft{{Kind: agent.KindNote}}}); err != nil {
			log.Fatal(err)
		}
	}
	page := agent.Page{Prefix: "chat/", Limit: 2}
	for {
		list, err := c.ListThreads(ctx, page)
		if err != nil {
			log.Fatal(err)
		}
		for _, t := range list.Items {
			fmt.Println(t.ID)
		}
		if list.Next == "" {
			break
		}
		page.After = list.Next
	}
	// Output:
	// chat/1
	// chat/2
	// chat/3
}

// A search sees a memory as soon as it is written. ModeText ranks by the words of the
// query.
func ExampleMemories_Recall() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	for _, content := range []string{"The user is allergic to nuts.", "The user lives in Lyon."} {
		if _, err := c.WriteMemory(ctx, agent.WriteMemory{Agent: "helper", Content: content, Tags: []string{"profile"}}); err != nil {
			log.Fatal(err)
		}
	}
	found, err := c.Recall(ctx, agent.Recall{Agent: "helper", Mode: agent.ModeText, Query: "allergic", Limit: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range found.Items {
		fmt.Println(item.Memory.Content)
	}
	// Output: The user is allergic to nuts.
}

// A watch yields the entries of a thread, and new ones as they are appended. It continues
// on another node if its node fails.
func ExampleClient_Watch() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	if _, err := c.Append(ctx, agent.AppendThread{Thread: "chat", Entries: []agent.Draft{{ID: "first"}, {ID: "second"}}}); err != nil {
		log.Fatal(err)
	}
	for event, err := range c.Watch(ctx, agent.Watch{Thread: "chat"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Entry.Seq, event.Entry.ID)
		if event.Entry.ID == "second" {
			break // or cancel ctx
		}
	}
	// Output:
	// 0 first
	// 1 second
}

// Another scope has keys of its own, such as those of another tenant.
func ExampleScope_In() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	tenant := c.In("tenant-7")
	if _, err := tenant.PutValue(ctx, agent.PutValue{Key: "theme", Bytes: []byte("dark")}); err != nil {
		log.Fatal(err)
	}
	_, err := c.GetValue(ctx, "theme")
	fmt.Println("in the client's own scope:", agent.CodeOf(err))
	// Output: in the client's own scope: not_found
}
