package client_test

import (
	"context"
	"fmt"
	"log"

	"dormouse/agent"
)

// A turn is claimed, stores a checkpoint before it makes an outside call, writes under
// its lease, and is committed with its result. A long turn renews the lease every
// third of its ttl.
func ExampleSessions_ClaimSession() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	if _, err := c.StartSession(ctx, agent.PutSession{Session: "s1", Agent: "helper", SessionSettings: agent.SessionSettings{Thread: "chat"}}); err != nil {
		log.Fatal(err)
	}
	turn, err := c.ClaimSession(ctx, agent.ClaimSession{
		Session: "s1", Owner: "worker-1", Request: &agent.SessionRequest{ID: "r1", Input: agent.JSON(`"what is the weather?"`)},
	})
	if err != nil {
		log.Fatal(err) // session_already_running if another runner has it
	}
	lease := turn.Session.Lease
	if _, err := c.CheckpointSession(ctx, agent.CheckpointSession{
		Session: "s1", LeaseID: lease.LeaseID, Owner: lease.Owner,
		Snapshot: agent.SessionSnapshot{ID: "r1/1", Cursor: agent.Cursor{Phase: agent.PhaseBeforeEffect}, TurnState: agent.JSON(`{"call":"weather"}`)},
	}); err != nil {
		log.Fatal(err)
	}
	answer := agent.Draft{Kind: agent.KindMessage, Payload: agent.JSON(`{"role":"assistant","content":"rain"}`)}
	if _, err := c.UnderLease(turn.Session).Append(ctx, agent.AppendThread{Thread: "chat", Entries: []agent.Draft{answer}}); err != nil {
		log.Fatal(err)
	}
	done, err := c.CommitSession(ctx, agent.CommitSession{
		Session: "s1", LeaseID: lease.LeaseID, Owner: lease.Owner, Status: agent.SessionFinished, Result: agent.JSON(`"rain"`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Status, "at revision", done.Revision)

	_, err = c.UnderLease(turn.Session).Append(ctx, agent.AppendThread{Thread: "chat", Entries: []agent.Draft{answer}})
	fmt.Println("afterwards:", agent.CodeOf(err))
	// Output:
	// finished at revision 4
	// afterwards: fenced
}

// A turn that needs a person's approval commits its questions and waits. A review is
// decided once; then the turn is resumed.
func ExampleReviews_DecideReview() {
	c, closeAll := dial()
	defer closeAll()
	ctx := context.Background()
	if _, err := c.StartSession(ctx, agent.PutSession{Session: "s1", Agent: "helper"}); err != nil {
		log.Fatal(err)
	}
	turn, err := c.ClaimSession(ctx, agent.ClaimSession{Session: "s1", Owner: "worker-1", Request: &agent.SessionRequest{ID: "r1"}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.CommitSession(ctx, agent.CommitSession{
		Session: "s1", LeaseID: turn.Session.Lease.LeaseID, Owner: "worker-1", Status: agent.SessionWaiting,
		Snapshots: []agent.SessionSnapshot{{ID: "r1/1", Cursor: agent.Cursor{Phase: agent.PhaseReview}}},
		Reviews:   []agent.ReviewDraft{{ID: "r1/send", Operation: "send_mail", Arguments: agent.JSON(`{"to":"ada"}`)}},
	}); err != nil {
		log.Fatal(err)
	}

	pending, err := c.ListReviews(ctx, agent.ListReviews{})
	if err != nil {
		log.Fatal(err)
	}
	for _, review := range pending.Items {
		decided, err := c.DecideReview(ctx, agent.DecideReview{Review: review.ID, Decision: agent.DecideApprove, By: "ann"})
		if err != nil {
			log.Fatal(err) // review_already_decided if another person was faster
		}
		fmt.Println(review.Operation, string(review.Arguments), decided.Status, "by", decided.DecidedBy)
	}
	resumed, err := c.ResumeSession(ctx, agent.ResumeSession{Session: "s1", Owner: "worker-2"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resumed.Session.Lease.Owner, "goes on from", resumed.Recovery.Resume)
	// Output:
	// send_mail {"to":"ada"} approved by ann
	// worker-2 goes on from r1/1
}
