package memstore_test

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
)

// A test sets the clock, and lets time pass without waiting.
func ExampleStore_Pass() {
	ctx := context.Background()
	s := memstore.New()
	s.Clock = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	take := agent.Commit{Ops: []agent.Op{&agent.TakeClaim{Claim: "nightly", Holder: "a", TTL: time.Minute}}}
	if _, err := s.Commit(ctx, take); err != nil {
		fmt.Println(err)
	}
	holder := func() string {
		answers, err := s.Read(ctx, agent.Reads{Reads: []agent.Read{&agent.GetClaim{Claim: "nightly"}}})
		if err != nil || answers.Answers[0].Err != nil {
			return "no holder"
		}
		return answers.Answers[0].Found.(*agent.Claim).Holder
	}
	fmt.Println(holder())
	s.Pass(time.Minute)
	fmt.Println(holder())
	// Output:
	// a
	// no holder
}
