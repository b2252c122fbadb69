package agenttest

import (
	"context"

	"dormouse/agent"
)

// start creates session s of agent a; more sets other fields.
func (k *kit) start(more ...func(*agent.PutSession)) agent.SessionRow {
	k.Helper()
	op := &agent.PutSession{Session: "s", Agent: "a"}
	for _, m := range more {
		m(op)
	}
	return k.session(op)
}

// session applies an op whose result is a session.
func (k *kit) session(op agent.Op) agent.SessionRow {
	k.Helper()
	return apply[*agent.SessionResult](k, op).Session
}

func classic(op *agent.PutSession) { op.Mode = agent.SessionModeClassic }

func policy(busy agent.BusyPolicy) func(*agent.PutSession) {
	return func(op *agent.PutSession) { op.Busy, op.Thread, op.Checkpoint = busy, "t", "k" }
}

func claiming(owner, request string) *agent.ClaimSession {
	return &agent.ClaimSession{Session: "s", Owner: owner, Request: &agent.SessionRequest{ID: request, Input: agent.JSON(`"hi"`)}}
}

// lease claims session s and returns its lease.
func (k *kit) lease(owner, request string) *agent.Lease {
	k.Helper()
	row := k.session(claiming(owner, request))
	if row.Lease == nil || row.Status != agent.SessionRunning || row.Lease.Owner != owner || row.Lease.LeaseID != agent.LeaseID(row.Lease.Epoch) {
		k.Fatalf("claimed: %+v, %+v", row, row.Lease)
	}
	return row.Lease
}

func snapshot(id string, phase agent.CursorPhase) agent.SessionSnapshot {
	return agent.SessionSnapshot{
		ID: id, Cursor: agent.Cursor{Phase: phase, LoopIndex: 1, Metadata: agent.JSON(`{}`)},
		TurnState: agent.JSON(`{"of":"` + id + `"}`), Metadata: agent.JSON(`{}`),
	}
}

func checkpoint(l *agent.Lease, id string, reviews ...agent.ReviewDraft) *agent.CheckpointSession {
	return &agent.CheckpointSession{
		Session: "s", LeaseID: l.LeaseID, Owner: l.Owner, Snapshot: snapshot(id, agent.PhaseAfterPrompt), Reviews: reviews,
	}
}

func end(l *agent.Lease, status agent.SessionStatus, reviews ...agent.ReviewDraft) *agent.CommitSession {
	return &agent.CommitSession{Session: "s", LeaseID: l.LeaseID, Owner: l.Owner, Status: status, Reviews: reviews}
}

func renewLease(l *agent.Lease) *agent.RenewSession {
	return &agent.RenewSession{Session: "s", LeaseID: l.LeaseID, Owner: l.Owner}
}

// stored returns session s.
func (k *kit) stored() *agent.Session {
	k.Helper()
	return find[*agent.Session](k, &agent.GetSession{Session: "s"})
}

// lapse waits until the lease of session s has expired.
func (k *kit) lapse() {
	k.Helper()
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	for event, err := range k.service.Watch(ctx, agent.Watch{Scope: k.scope, Claim: agent.SessionClaim("s")}) {
		if err != nil {
			k.Fatalf("watch the lease: %v", err)
		}
		if !event.Claim.Held() {
			return
		}
	}
	k.Fatal("the lease did not end")
}

// lapsing claims session s with the shortest ttl, and waits until the lease has
// expired.
func (k *kit) lapsing(owner, request string) *agent.Lease {
	k.Helper()
	op := claiming(owner, request)
	op.TTL = agent.ClaimTTLMin
	lease := k.session(op).Lease
	k.lapse()
	return lease
}

// sessions returns the ids of sessions, with pages of two.
func (k *kit) sessions(q agent.ListSessions) []string {
	k.Helper()
	return k.pages(agent.Page{Limit: 2}, func(p agent.Page) agent.Read {
		q.Page = p
		return &q
	})
}

// reviews returns the ids of reviews, with pages of two.
func (k *kit) reviews(q agent.ListReviews) (ids []string) {
	k.Helper()
	q.Limit = 2
	for {
		list := find[*agent.ReviewList](k, &q)
		for _, r := range list.Items {
			ids = append(ids, r.ID)
		}
		if list.Next == "" {
			return ids
		}
		q.After = list.Next
	}
}

func (k *kit) review(id string) *agent.Review {
	k.Helper()
	return find[*agent.Review](k, &agent.GetReview{Review: id})
}

func decide(review string, decision agent.ReviewDecision) *agent.DecideReview {
	return &agent.DecideReview{Review: review, Decision: decision, By: "ada"}
}
