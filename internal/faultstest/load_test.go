package faultstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

const journal = "journal"

// dial returns a client of these nodes only.
func dial(t *testing.T, places ...*place) *client.Client {
	t.Helper()
	o := client.Options{Fixed: true, Timeout: waitMax, Attempt: time.Second}
	for _, p := range places {
		o.Endpoints = append(o.Endpoints, p.grpc)
	}
	c, err := client.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func payload(n uint64) string { return fmt.Sprintf(`{"n":"entry-%06d"}`, n) }

// write appends entry n, which must be the thread's next.
func write(ctx context.Context, c agent.Service, n uint64) error {
	_, err := c.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.AppendThread{
		Thread: journal, ExpectedRev: &n, Entries: []agent.Draft{{Payload: agent.JSON(payload(n))}},
	}}})
	return err
}

// fill appends the entries from..to-1, each after the previous one was acknowledged.
func fill(t *testing.T, c agent.Service, from, to uint64) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := write(t.Context(), c, n); err != nil {
			t.Fatalf("append entry %d: %v", n, err)
		}
	}
}

// count reads the whole thread and returns its number of entries, n. It fails the test
// unless they are entries 0..n-1, each once and in order, with a valid hash chain.
func count(t *testing.T, c agent.Service) uint64 {
	t.Helper()
	var n uint64
	for from := uint64(0); ; {
		answers, err := c.Read(t.Context(), agent.Reads{Reads: []agent.Read{
			&agent.LoadEntries{Thread: journal, From: from}, &agent.VerifyThread{Thread: journal},
		}})
		if err != nil {
			t.Fatalf("read the journal: %v", err)
		}
		for _, answer := range answers.Answers {
			if answer.Err != nil {
				t.Fatalf("read the journal: %v", answer.Err)
			}
		}
		page := answers.Answers[0].Found.(*agent.Entries)
		for _, entry := range page.Items {
			if entry.Seq != n || string(entry.Payload) != payload(n) {
				t.Fatalf("entry %d is %d, %s", n, entry.Seq, entry.Payload)
			}
			n++
		}
		if verified := answers.Answers[1].Found.(*agent.Verified); !verified.OK {
			t.Fatalf("the journal's chain is broken: %s", verified.Why)
		}
		if page.Next == nil {
			return n
		}
		from = *page.Next
	}
}
