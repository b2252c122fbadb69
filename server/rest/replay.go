package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/agent/replay"
)

// replayed tells what happened to a session.
type replayed struct {
	SessionID      string              `json:"session_id"`
	AgentID        string              `json:"agent_id"`
	Status         agent.SessionStatus `json:"status"`
	Revision       uint64              `json:"revision"`
	Thread         string              `json:"thread,omitzero"`
	FromSeq        uint64              `json:"from_seq,omitzero" doc:"The first entry of the thread that is told"`
	Snapshots      []snapshotSummary   `json:"snapshots" nullable:"false"`
	Timeline       []replayEvent       `json:"timeline" nullable:"false" doc:"By time, and the thread's entries by seq"`
	PendingReviews []review            `json:"pending_reviews" nullable:"false"`
	Result         anyValue            `json:"result,omitzero"`
	Error          anyValue            `json:"error,omitzero"`
	Metadata       document            `json:"metadata"`
}

// snapshotSummary is a snapshot without its contents.
type snapshotSummary struct {
	SnapshotID string            `json:"snapshot_id"`
	RequestID  string            `json:"request_id,omitzero"`
	Phase      agent.CursorPhase `json:"phase"`
	LoopIndex  uint64            `json:"loop_index"`
	At         int64             `json:"at"`
}

// replayEvent is one thing that happened.
type replayEvent struct {
	At        int64       `json:"at"`
	What      replay.What `json:"what" doc:"created, forked, request, queued, lease, entry, snapshot, checkpoint, review, review_escalated, review_decided"`
	ID        string      `json:"id,omitzero" doc:"Of the request, lease, entry, snapshot, checkpoint or review"`
	RequestID string      `json:"request_id,omitzero"`
	Seq       *uint64     `json:"seq,omitzero" doc:"Of what is in the thread"`
	Event     string      `json:"event,omitzero" doc:"An entry's event, or else its kind"`
	EffectID  string      `json:"effect_id,omitzero"`
	Operation string      `json:"operation,omitzero"`
	By        string      `json:"by,omitzero"`
	Status    string      `json:"status,omitzero" doc:"A request's outcome, a review's status, a snapshot's phase, a checkpoint's lifecycle"`
	Revision  uint64      `json:"revision,omitzero"`
	Data      anyValue    `json:"data,omitzero" doc:"A request's input, an entry's payload, a review's arguments"`
}

func replayedOf(r *replay.Replay) replayed {
	s := r.Session
	return replayed{
		SessionID: s.ID, AgentID: s.Agent, Status: s.Status, Revision: s.Revision, Thread: s.Thread, FromSeq: r.FromSeq,
		Snapshots: rowsOf(s.Snapshots, func(n agent.SessionSnapshot) snapshotSummary {
			return snapshotSummary{SnapshotID: n.ID, RequestID: n.RequestID, Phase: n.Cursor.Phase, LoopIndex: n.Cursor.LoopIndex, At: n.At}
		}),
		Timeline: rowsOf(r.Timeline, func(e replay.Event) replayEvent {
			return replayEvent{
				At: e.At, What: e.What, ID: e.ID, RequestID: e.Request, Seq: e.Seq, Event: e.Name, EffectID: e.Effect, Operation: e.Operation,
				By: e.By, Status: e.Status, Revision: e.Revision, Data: anyValueOf(e.Data),
			}
		}),
		PendingReviews: rowsOf(s.PendingReviews, reviewOf), Result: anyValueOf(s.Result), Error: anyValueOf(s.Failure),
		Metadata: document(s.Metadata),
	}
}

func (f *front) routeReplay() {
	register(f, route{
		method: http.MethodGet, path: "/v1/sessions/{id}/replay", id: "replay-session", tag: "sessions",
		summary: "What happened to a session, as one timeline; nothing is executed",
		effect:  reads, query: []string{"tail"}, answers: replayed{},
	}, (*call).replaySession)
}

// replaySession answers in a few reads: what is written in between may be told
// of one part and not of another.
func (c *call) replaySession(*none) error {
	told, err := replay.Read(c.readAll, c.id("id"), c.number("tail"), agent.ReadBytesMax)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &told.Session.Revision, body: replayedOf(told)})
}
