package session

import (
	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// beginTurn records what a rollback of the turn would restore, if the session's policy allows
// rollbacks.
func beginTurn(c *txn.Tx, s *Session) error {
	s.Row.Turn = nil
	if agent.BusyPolicy(s.Row.Settings.Busy) != agent.BusyRollback {
		return nil
	}
	turn := &logpb.TurnStart{Status: s.Row.Status, Snapshots: s.Row.Snapshots, ReviewsEnd: s.Row.ReviewsEnd}
	if key := s.Row.Settings.Checkpoint; key != "" {
		row, err := checkpoint.Live(c, key)
		if err != nil {
			return err
		}
		turn.CheckpointIncarnation, turn.CheckpointRevision = row.GetIncarnation(), row.GetRevision()
	}
	if id := s.Row.Settings.Thread; id != "" {
		thread, err := thread.Load(c, id)
		if err != nil {
			return err
		}
		turn.ThreadIncarnation, turn.ThreadRev = thread.GetIncarnation(), thread.GetRev()
	}
	s.Row.Turn = turn
	return nil
}

// rollBack undoes the effects of the running turn on its session, and on the checkpoint and the
// thread that the session names. The conversation is unchanged: only a commit changes it, and that
// ends the turn.
func rollBack(c *txn.Tx, s *Session) error {
	turn := s.Row.Turn
	if turn == nil {
		return nil
	}
	since := s.Row.Snapshots
	s.Row.Snapshots = turn.Snapshots
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

// putCheckpointBack restores the session's checkpoint, as a new revision of it.
func putCheckpointBack(c *txn.Tx, s *Session, turn *logpb.TurnStart) error {
	key := s.Row.Settings.Checkpoint
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

func cannotRollBack(s *Session, why string) error {
	return agent.Errorf(agent.CodeConflict, "session %q cannot be rolled back: its checkpoint %q %s; cancel the session instead",
		s.Id, s.Row.Settings.Checkpoint, why)
}

// disown records in the session's thread which of its entries the turn appended.
func disown(c *txn.Tx, s *Session, turn *logpb.TurnStart) error {
	if s.Row.Settings.Thread == "" {
		return nil
	}
	thread, err := thread.Load(c, s.Row.Settings.Thread)
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
	return appendNote(c, s.Row.Settings.Thread, agent.TurnRolledBackEntry(s.Id, s.Row.Request, from, thread.Rev-1))
}

// appendNote appends an entry of the state machine to a thread. If the thread refuses it, because
// it is sealed for example, nothing is appended.
func appendNote(c *txn.Tx, id string, draft agent.Draft) error {
	_, err := thread.Append(c, &agent.AppendThread{Thread: id, Entries: []agent.Draft{draft}})
	if _, refused := err.(*agent.Error); refused { //nolint:errorlint // as in decide
		return nil // before anything was written
	}
	return err
}
