package review

import (
	"context"
	"encoding/json"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// claim begins a turn even if another turn is running. If the session does not exist,
// claim starts one.
func (*review) claim(ctx context.Context, p *workload.Process, key string, t turn) (reviewsSeen, error) {
	return workload.Call(ctx, p, workload.CallClaim, key, true, t, func(ctx context.Context) (reviewsSeen, error) {
		claim := &agent.ClaimSession{Session: key, Owner: t.Owner, Request: &agent.SessionRequest{ID: t.Request}}
		seen, index, err := workload.CommitOne[*agent.SessionResult](ctx, p, claim)
		if agent.CodeOf(err) == agent.CodeNotFound {
			start := &agent.PutSession{Session: key, Agent: key, SessionSettings: agent.SessionSettings{Thread: key, Busy: agent.BusyInterrupt}}
			if _, _, err := workload.CommitOne[*agent.SessionResult](ctx, p, start); err != nil && agent.CodeOf(err) != agent.CodeAlreadyExists {
				return reviewsSeen{}, err
			}
			seen, index, err = workload.CommitOne[*agent.SessionResult](ctx, p, claim)
		}
		if err != nil {
			return reviewsSeen{}, err
		}
		out := reviewsSeen{Index: index}
		if lease := seen.Session.Lease; lease != nil {
			out.Epoch = lease.Epoch
		}
		return out, nil
	})
}

// ask requests reviews. Afterwards the turn waits for them or goes on.
func (*review) ask(ctx context.Context, p *workload.Process, key string, t turn) (reviewsSeen, error) {
	drafts := make([]agent.ReviewDraft, len(t.Asks))
	for i, a := range t.Asks {
		drafts[i] = agent.ReviewDraft{ID: a.ID, InterruptID: a.ID, Operation: "act", TTL: a.TTL}
	}
	snapshot := agent.SessionSnapshot{ID: t.Name, Cursor: agent.Cursor{Phase: agent.PhaseReview}}
	var op agent.Op = &agent.CommitSession{
		Session: key, LeaseID: agent.LeaseID(t.Epoch), Owner: t.Owner, Status: agent.SessionWaiting,
		Snapshots: []agent.SessionSnapshot{snapshot}, Reviews: drafts,
	}
	if t.GoesOn {
		op = &agent.CheckpointSession{Session: key, LeaseID: agent.LeaseID(t.Epoch), Owner: t.Owner, Snapshot: snapshot, Reviews: drafts}
	}
	return underTurn(ctx, p, callAsk, key, t, op)
}

// withdraw ends the turn, which withdraws the pending reviews.
func (*review) withdraw(ctx context.Context, p *workload.Process, key string, t turn) (reviewsSeen, error) {
	return underTurn(ctx, p, callWithdraw, key, t, &agent.CommitSession{
		Session: key, LeaseID: agent.LeaseID(t.Epoch), Owner: t.Owner, Status: agent.SessionFinished,
	})
}

func underTurn(ctx context.Context, p *workload.Process, call, key string, t turn, op agent.Op) (reviewsSeen, error) {
	return workload.Call(ctx, p, call, key, true, t, func(ctx context.Context) (reviewsSeen, error) {
		_, index, err := workload.CommitOne[*agent.SessionResult](ctx, p, op)
		return reviewsSeen{Index: index}, err
	})
}

func (*review) decide(ctx context.Context, p *workload.Process, key string, a answer) (reviewsSeen, error) {
	return workload.Call(ctx, p, callDecide, key, true, a, func(ctx context.Context) (reviewsSeen, error) {
		op := &agent.DecideReview{Review: a.Review, Decision: a.Decision, By: a.By}
		if a.Decision == agent.DecideEdit {
			op.Arguments = workload.MarkOf(a.By)
		}
		seen, index, err := workload.CommitOne[*agent.ReviewResult](ctx, p, op)
		if err != nil {
			return reviewsSeen{}, err
		}
		return reviewsSeen{Index: index, Reviews: []reviewSeen{reviewOf(&seen.Review)}}, nil
	})
}

// reviewOf returns what an answer shows of a review. If the arguments of an edit do
// not name its author, By is the arguments.
func reviewOf(r *agent.Review) reviewSeen {
	seen := reviewSeen{ID: r.ID, Status: r.Status, By: r.DecidedBy, At: r.DecidedAt}
	if r.Status == agent.ReviewEdited && workload.NameIn(r.Decided) != r.DecidedBy {
		seen.By = string(r.Decided)
	}
	return seen
}

func (*review) get(ctx context.Context, p *workload.Process, key, id string) (reviewsSeen, error) {
	return workload.Call(ctx, p, workload.CallGet, key, false, id, func(ctx context.Context) (reviewsSeen, error) {
		index, answers, err := workload.FindAll(ctx, p, &agent.GetReview{Review: id})
		if err != nil {
			return reviewsSeen{}, err
		}
		seen := reviewSeen{ID: id}
		switch found := answers[0].(type) {
		case *agent.Review:
			seen = reviewOf(found)
		case nil:
		default:
			return reviewsSeen{}, agent.Errorf(agent.CodeInternal, "the answer is a %T", found)
		}
		return reviewsSeen{Index: index, Reviews: []reviewSeen{seen}}, nil
	})
}

// read reads a session's status, its reviews and its thread at one index.
func (*review) read(ctx context.Context, p *workload.Process, key string) (reviewsSeen, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, struct{}{}, func(ctx context.Context) (reviewsSeen, error) {
		index, answers, err := workload.FindAll(ctx, p,
			&agent.GetSession{Session: key},
			&agent.ListReviews{Session: key, Page: agent.Page{Limit: agent.SessionReviewsKept}},
			&agent.LoadEntries{Thread: key, Limit: agent.EntriesLimitMax})
		if err != nil {
			return reviewsSeen{}, err
		}
		out := reviewsSeen{Index: index}
		for _, found := range answers {
			switch found := found.(type) {
			case *agent.Session:
				out.Status = found.Status
			case *agent.ReviewList:
				for i := range found.Items {
					out.Reviews = append(out.Reviews, reviewOf(&found.Items[i]))
				}
			case *agent.Entries:
				for _, e := range found.Items {
					out.Entries = append(out.Entries, recordedIn(e))
				}
			}
		}
		return out, nil
	})
}

// recordedIn returns the answer that an entry records.
func recordedIn(e agent.Entry) reviewSeen {
	var payload struct {
		Review string             `json:"review_id"`
		Status agent.ReviewStatus `json:"status"`
		By     string             `json:"by"`
	}
	if err := json.Unmarshal(e.Payload, &payload); err != nil || e.Kind != agent.KindReviewDecision {
		return reviewSeen{ID: string(e.Payload), Status: agent.ReviewStatus(e.Kind)} // no review has that id, so the checker reports it
	}
	return reviewSeen{ID: payload.Review, Status: payload.Status, By: payload.By}
}
