package replay

import (
	"fmt"
	"strconv"

	"dormouse/agent"
)

func sessionEvents(s *agent.Session) []Event {
	begun := Event{At: s.CreatedAt, What: Created, ID: s.ID, identity: identity{event: string(Created)}}
	if l := s.Lineage; l != nil {
		begun.What, begun.ID, begun.Revision, begun.Effect = Forked, l.Session, l.Revision, l.Snapshot
	}
	all := []Event{begun}
	for i, r := range s.Requests {
		all = append(all, requestEvent(Requested, i, r))
	}
	for i, r := range s.Queue {
		all = append(all, requestEvent(Queued, i, r))
	}
	if l := s.Lease; l != nil {
		all = append(all, Event{
			At: l.AcquiredAt, What: Leased, ID: l.LeaseID, Request: l.RequestID, By: l.Owner,
			identity: identity{request: l.RequestID, event: string(Leased), effect: l.LeaseID},
		})
	}
	for _, n := range s.Snapshots {
		all = append(all, Event{
			At: n.At, What: Snapshot, ID: n.ID, Request: n.RequestID, Status: string(n.Cursor.Phase),
			identity: identity{request: n.RequestID, event: string(Snapshot), effect: n.ID},
		})
	}
	return all
}

// requestEvent returns the event of a request. A request may be claimed more than
// once, so its place is part of the identity.
func requestEvent(what What, place int, r agent.SessionRequest) Event {
	return Event{
		At: r.At, What: what, ID: r.ID, Request: r.ID, By: r.Owner, Status: string(r.Outcome), Data: r.Input,
		identity: identity{request: r.ID, seq: strconv.Itoa(place), event: string(what)},
	}
}

func reviewEvents(reviews []agent.Review) []Event {
	var all []Event
	for _, r := range reviews {
		event := func(at int64, what What, name string) Event {
			return Event{
				At: at, What: what, ID: r.ID, Request: r.RequestID, Name: name, Effect: r.ID, Operation: r.Operation, Data: r.Arguments,
				identity: identity{request: r.RequestID, event: name, effect: r.ID, operation: r.Operation},
			}
		}
		asked := event(r.CreatedAt, Asked, string(Asked))
		all = append(all, asked)
		if r.Escalated {
			all = append(all, event(r.EscalateAt, Escalated, string(Escalated)))
			all[len(all)-1].By = r.EscalateTo
		}
		if r.Status != agent.ReviewPending {
			decided := event(r.DecidedAt, Decided, agent.KindReviewDecision)
			decided.By, decided.Status = r.DecidedBy, string(r.Status)
			if r.Decided != nil {
				decided.Data = r.Decided
			}
			all = append(all, decided)
		}
	}
	return all
}

func checkpointEvents(rows []agent.CheckpointRow) []Event {
	var all []Event
	for _, r := range rows {
		all = append(all, Event{
			At: r.UpdatedAt, What: Checkpoint, ID: r.Key, Status: r.Lifecycle, Revision: r.Revision,
			identity: identity{event: string(Checkpoint), effect: r.Key, seq: fmt.Sprintf("%d.%d", r.Incarnation, r.Revision)},
		})
	}
	return all
}
