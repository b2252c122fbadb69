package document

import (
	"dormouse/agent"
	"dormouse/agent/replay"
)

// Replayed is the history of a session.
type Replayed struct {
	SessionID      string              `json:"session_id"`
	AgentID        string              `json:"agent_id"`
	Status         agent.SessionStatus `json:"status"`
	Revision       uint64              `json:"revision"`
	Thread         string              `json:"thread,omitzero"`
	FromSeq        uint64              `json:"from_seq,omitzero" doc:"The seq of the first entry of the thread in the timeline"`
	Snapshots      []snapshotSummary   `json:"snapshots" nullable:"false"`
	Timeline       []replayEvent       `json:"timeline" nullable:"false" doc:"By time, and the thread's entries by seq"`
	PendingReviews []Review            `json:"pending_reviews" nullable:"false"`
	Result         AnyValue            `json:"result,omitzero"`
	Error          AnyValue            `json:"error,omitzero"`
	Metadata       JSON                `json:"metadata"`
}

// snapshotSummary is a snapshot without its contents.
type snapshotSummary struct {
	SnapshotID string            `json:"snapshot_id"`
	RequestID  string            `json:"request_id,omitzero"`
	Phase      agent.CursorPhase `json:"phase"`
	LoopIndex  uint64            `json:"loop_index"`
	At         int64             `json:"at"`
}

// replayEvent is one event of the timeline.
type replayEvent struct {
	At        int64       `json:"at"`
	What      replay.What `json:"what" doc:"created, forked, request, queued, lease, entry, snapshot, checkpoint, review, review_escalated, review_decided"`
	ID        string      `json:"id,omitzero" doc:"Of the request, lease, entry, snapshot, checkpoint or review"`
	RequestID string      `json:"request_id,omitzero"`
	Seq       *uint64     `json:"seq,omitzero" doc:"The seq of its entry in the thread"`
	Event     string      `json:"event,omitzero" doc:"The event that an entry names, or its kind"`
	EffectID  string      `json:"effect_id,omitzero"`
	Operation string      `json:"operation,omitzero"`
	By        string      `json:"by,omitzero"`
	Status    string      `json:"status,omitzero" doc:"A request's outcome, a review's status, a snapshot's phase, a checkpoint's lifecycle"`
	Revision  uint64      `json:"revision,omitzero"`
	Data      AnyValue    `json:"data,omitzero" doc:"A request's input, an entry's payload, a review's arguments"`
}

// ReplayedOf returns the document of r.
func ReplayedOf(r *replay.Replay) Replayed {
	s := r.Session
	return Replayed{
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
		PendingReviews: rowsOf(s.PendingReviews, ReviewOf), Result: anyValueOf(s.Result), Error: anyValueOf(s.Failure),
		Metadata: JSON(s.Metadata),
	}
}
