package fsm

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// A timer waits in the wall queue until its occurrence falls due, and then
// stands in the index of those that are, for the leader to fire, until the
// occurrence is acknowledged or an attempt at it has failed. A cron whose first
// instant has not been reckoned yet is due at once. One that is parked is in
// neither. Nothing here knows what an expression means.

// openedTimer is one timer while an op changes it; the row is nil where there is none.
type openedTimer struct {
	*txn.Tx
	name kv.TimerName
	row  *logpb.TimerRow
}

// openTimer reads a timer.
func openTimer(c *txn.Tx, manager, key, id string) (*openedTimer, error) {
	for _, part := range []struct{ field, text string }{{"manager", manager}, {"key", key}, {"timer", id}} {
		if err := agent.ValidID(part.field, part.text); err != nil {
			return nil, err
		}
	}
	t := &openedTimer{Tx: c, name: kv.TimerName{Manager: manager, Key: key, ID: id}}
	raw, err := c.Rows.Get(t.keyOf(kv.KindTimer))
	if err != nil || raw == nil {
		return t, err
	}
	t.row, err = command.DecodeTimerRow(id, raw)
	return t, err
}

// keyOf is the key of the timer's row of a kind.
func (t *openedTimer) keyOf(kind string) string { return t.name.Row(kind, t.Scope) }

// putTimer sets a timer. One whose signal its manager's handler cannot take would
// fail each time, and is refused; those of stored jobs are left as they are.
func putTimer(c *txn.Tx, op *agent.PutTimer) (agent.OpResult, error) {
	if c.Level >= txn.EndingLevel && !strings.HasPrefix(op.Timer.ID, agent.CronTimerPrefix) {
		row, err := managerRow(c, op.Timer.Manager)
		if err != nil {
			return nil, err
		}
		handler := agent.Handler{Kind: agent.HandlerKind(row.GetSettings().GetHandler().GetKind())}
		if err := handler.Takes(op.Timer.Type); err != nil {
			return nil, err
		}
	}
	return setTimer(c, &op.Timer, c.NewIncarnation)
}

// setTimer puts a timer, of the generation that mint gives.
func setTimer(c *txn.Tx, op *agent.Timer, mint func() uint64) (agent.OpResult, error) {
	if op.Next < 0 || op.Cron == "" && op.Next == 0 {
		return nil, agent.Invalid("at", "at = %d is no instant", op.Next)
	}
	t, err := openTimer(c, op.Manager, op.Key, op.ID)
	if err != nil {
		return nil, err
	}
	now := c.Progress.Wall
	row := &logpb.TimerRow{
		Plan: command.EncodePlan(op), Generation: mint(), Next: op.Next, CreatedAt: now, UpdatedAt: now, Size: timerBytes(op),
	}
	row.Plan.Data = nil // it has a row of its own
	if old := t.row; old != nil {
		t.unplace()
		row.CreatedAt = old.CreatedAt
		c.AddUsage(0, int64(row.Size)-int64(old.Size))
	} else {
		if err := t.room(); err != nil {
			return nil, err
		}
		c.AddUsage(1, int64(row.Size))
	}
	t.row = row
	c.Rows.Set(t.keyOf(kv.KindTimerData), op.Data)
	return t.store()
}

// timerBytes is what a timer counts for.
func timerBytes(op *agent.Timer) uint64 {
	return uint64(len(op.Cron) + len(op.TimeZone) + len(op.Type) + len(op.Data))
}

// room holds a new timer to what its instance may have.
func (t *openedTimer) room() error {
	prefix := kv.TimersOf(kv.KindTimer, t.Scope, t.name.Manager, t.name.Key)
	keys, _, err := t.Rows.Keys(prefix, kv.After(prefix), agent.TimersMax)
	if err != nil || len(keys) < agent.TimersMax {
		return err
	}
	e := agent.Errorf(agent.CodeOverloaded, "instance %q of %q has %d timers: delete some", t.name.Key, t.name.Manager, len(keys))
	e.Limit = fmt.Sprintf("timers_max=%d", agent.TimersMax)
	e.RetryAfterMS = txn.QuotaRetryMS
	return e
}

func deleteTimer(c *txn.Tx, op *agent.DeleteTimer) (agent.OpResult, error) {
	t, err := openTimer(c, op.Manager, op.Key, op.ID)
	if err != nil {
		return nil, err
	}
	if t.row == nil {
		return &agent.DeleteResult{}, nil
	}
	t.drop()
	return &agent.DeleteResult{Existed: true, Incarnation: t.row.Generation}, nil
}

// drop removes the timer.
func (t *openedTimer) drop() {
	t.unplace()
	t.Rows.Remove(t.keyOf(kv.KindTimer))
	t.Rows.Remove(t.keyOf(kv.KindTimerData))
	t.AddUsage(-1, -int64(t.row.Size))
	t.tell(&logpb.Change{Deleted: true})
}

// tell says what has become of the timer.
func (t *openedTimer) tell(change *logpb.Change) {
	change.Kind, change.Manager, change.Instance, change.Key = string(agent.ChangedTimer), t.name.Manager, t.name.Key, t.name.ID
	t.RecordLateChange(change)
}

// pendingTimer is a timer of which just that occurrence is pending.
func pendingTimer(c *txn.Tx, manager, key, id string, generation uint64, instant int64) (*openedTimer, error) {
	t, err := openTimer(c, manager, key, id)
	if err != nil {
		return nil, err
	}
	var e *agent.Error
	switch row := t.row; {
	case row == nil:
		e = agent.Errorf(agent.CodeConflict, "timer %q of instance %q has ended", id, key)
	case row.Generation != generation:
		e = agent.Errorf(agent.CodeConflict, "timer %q of instance %q has been put anew: it is of generation %d, not %d", id, key, row.Generation, generation)
	case row.Next != instant:
		e = agent.Errorf(agent.CodeConflict, "of timer %q of instance %q %d is pending, not %d", id, key, row.Next, instant)
	default:
		return t, nil
	}
	return nil, e
}

func ackTimer(c *txn.Tx, op *agent.AckTimer) (agent.OpResult, error) {
	if op.Next != 0 && op.Next <= op.Instant {
		return nil, agent.Invalid("next", "next = %d does not come after %d", op.Next, op.Instant)
	}
	t, err := pendingTimer(c, op.Manager, op.Key, op.ID, op.Generation, op.Instant)
	if err != nil {
		return nil, err
	}
	if op.Next == 0 {
		t.drop()
		return &agent.TimerResult{}, nil
	}
	t.unplace()
	t.row.Next, t.row.NotBefore, t.row.Attempts, t.row.Parked, t.row.LastError = op.Next, 0, 0, false, ""
	return t.store()
}

func failTimer(c *txn.Tx, op *agent.FailTimer) (agent.OpResult, error) {
	if op.NotBefore < 0 {
		return nil, agent.Invalid("not_before", "not_before = %d is no instant", op.NotBefore)
	}
	t, err := pendingTimer(c, op.Manager, op.Key, op.ID, op.Generation, op.Instant)
	if err != nil {
		return nil, err
	}
	t.unplace()
	if !op.Waits {
		t.row.Attempts++
	}
	t.row.NotBefore, t.row.LastError = op.NotBefore, op.Error
	t.row.Parked = t.row.Attempts >= agent.TimerAttemptsMax
	return t.store()
}

// store puts the timer where it is to wait, writes its row, and tells so.
func (t *openedTimer) store() (agent.OpResult, error) {
	t.place()
	if err := t.write(); err != nil {
		return nil, err
	}
	change := &logpb.Change{Revision: t.row.Generation}
	if t.row.Parked {
		change.Status = agent.TimerParked
	}
	t.tell(change)
	return &agent.TimerResult{Timer: command.TimerOf(t.name, t.row, nil)}, nil
}

// place puts the timer where it is to wait.
func (t *openedTimer) place() {
	if at := max(t.row.Next, t.row.NotBefore); !t.row.Parked {
		if at <= t.Progress.Wall {
			t.row.Due = true
			t.Rows.Set(t.keyOf(kv.KindTimerDue), kv.Indexed)
			t.NotifyWatchers(kv.TimersDueKey)
		} else {
			t.row.Queued = at
			t.SetExpiry(at, t.keyOf(kv.KindTimer))
		}
	}
}

func (t *openedTimer) write() error {
	raw, err := command.Marshal(t.row)
	if err != nil {
		return fmt.Errorf("encode timer %q: %w", t.name.ID, err)
	}
	t.Rows.Set(t.keyOf(kv.KindTimer), raw)
	return nil
}

// unplace takes the timer from where it waits.
func (t *openedTimer) unplace() {
	if t.row.Due {
		t.Rows.Remove(t.keyOf(kv.KindTimerDue))
	}
	t.ClearExpiry(t.row.Queued, t.keyOf(kv.KindTimer))
	t.row.Due, t.row.Queued = false, 0
}

// dueTimer handles a timer whose place in the wall queue has come.
func dueTimer(c *txn.Tx, row string, when int64) error {
	_, n, _ := kv.SplitTimer(row)
	t, err := openTimer(c, n.Manager, n.Key, n.ID)
	if err != nil || t.row == nil || t.row.Queued != when {
		return err
	}
	t.row.Queued = 0
	t.place()
	return t.write()
}
