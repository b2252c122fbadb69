package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// beginTurn notes what a rollback of the turn would put back, where the session
// may be rolled back at all.
func beginTurn(c *txn.Tx, s *openedSession) error {
	s.row.Turn = nil
	if agent.BusyPolicy(s.row.Busy) != agent.BusyRollback {
		return nil
	}
	turn := &logpb.TurnStart{Status: s.row.Status, Snapshots: s.row.Snapshots, ReviewsEnd: s.row.ReviewsEnd}
	if key := s.row.Checkpoint; key != "" {
		row, err := checkpoint.Live(c, key)
		if err != nil {
			return err
		}
		turn.CheckpointIncarnation, turn.CheckpointRevision = row.GetIncarnation(), row.GetRevision()
	}
	if id := s.row.Thread; id != "" {
		thread, err := thread.Load(c, id)
		if err != nil {
			return err
		}
		turn.ThreadIncarnation, turn.ThreadRev = thread.GetIncarnation(), thread.GetRev()
	}
	s.row.Turn = turn
	return nil
}

// rollBack undoes what the turn that runs has done to its session, and to the
// checkpoint and the thread that the session names. The conversation is as it
// was: only a commit changes it, and that would have ended the turn.
func rollBack(c *txn.Tx, s *openedSession) error {
	turn := s.row.Turn
	if turn == nil {
		return nil
	}
	since := s.row.Snapshots
	s.row.Snapshots = turn.Snapshots
	for _, k := range since {
		dropSnapshot(c, s, k)
	}
	if err := withdrawReviews(c, s, turn.ReviewsEnd); err != nil {
		return err
	}
	if err := putCheckpointBack(c, s, turn); err != nil {
		return err
	}
	return disown(c, s, turn)
}

// putCheckpointBack makes the session's checkpoint what it was, as a new
// revision of it.
func putCheckpointBack(c *txn.Tx, s *openedSession, turn *logpb.TurnStart) error {
	key := s.row.Checkpoint
	if key == "" {
		return nil
	}
	now, err := checkpoint.Live(c, key)
	if err != nil {
		return err
	}
	switch {
	case now.GetIncarnation() == turn.CheckpointIncarnation && now.GetRevision() == turn.CheckpointRevision:
		return nil
	case turn.CheckpointIncarnation == 0:
		_, err := checkpoint.Delete(c, &agent.DeleteCheckpoint{Key: key})
		return err
	case now.GetIncarnation() != turn.CheckpointIncarnation:
		return cannotRollBack(s, "was deleted")
	}
	then, err := checkpoint.StoredRevision(c, key, now, turn.CheckpointRevision)
	if err != nil {
		return err
	}
	if then == nil {
		return cannotRollBack(s, "has more revisions since than the scope keeps")
	}
	body, err := checkpoint.Body(c, key, then)
	if err != nil {
		return err
	}
	pointer, err := checkpoint.PointTo(c, command.DecodePointer(then.Thread))
	if err != nil {
		return err
	}
	_, err = checkpoint.Store(c, key, now, &logpb.CheckpointRow{
		Version: then.Version, Lifecycle: then.Lifecycle, Thread: pointer, ExpiresAt: now.ExpiresAt,
	}, body)
	return err
}

func cannotRollBack(s *openedSession, why string) error {
	return agent.Errorf(agent.CodeConflict, "session %q cannot be rolled back: its checkpoint %q %s; cancel the session instead",
		s.id, s.row.Checkpoint, why)
}

// disown records in the session's thread which of its entries were the turn's.
func disown(c *txn.Tx, s *openedSession, turn *logpb.TurnStart) error {
	if s.row.Thread == "" {
		return nil
	}
	thread, err := thread.Load(c, s.row.Thread)
	if err != nil || thread == nil {
		return err
	}
	from := turn.ThreadRev
	if thread.Incarnation != turn.ThreadIncarnation {
		from = 0
	}
	if thread.Rev <= from {
		return nil
	}
	return appendNote(c, s.row.Thread, agent.TurnRolledBackEntry(s.id, s.row.Request, from, thread.Rev-1))
}

// appendNote appends an entry of the state machine's own to a thread. One that takes
// none, as it is sealed, stays without.
func appendNote(c *txn.Tx, id string, draft agent.Draft) error {
	_, err := thread.Append(c, &agent.AppendThread{Thread: id, Entries: []agent.Draft{draft}})
	if _, refused := err.(*agent.Error); refused { //nolint:errorlint // as in decide
		return nil // before anything was written
	}
	return err
}
