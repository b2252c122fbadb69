package timer

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/manager"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// Ops are the ops on timers.
var Ops = []txn.Op{txn.OpOf(Put), txn.OpOf(Delete), txn.OpOf(Ack), txn.OpOf(Fail), txn.OpOf(PatchCron)}

// Reads are the reads of timers.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List)}

// A timer is in the wall queue until its occurrence falls due. Then it is in the index of due
// timers, which the leader fires, until the occurrence is acknowledged or an attempt fails. A cron
// timer whose first time has not been computed yet is due at once. A parked timer is in neither.
// This package does not parse expressions.

// Timer is one timer while an op changes it; the row is nil if there is none.
type Timer struct {
	*txn.Tx
	name kv.TimerName
	Row  *logpb.TimerRow
}

// Open reads a timer.
func Open(c *txn.Tx, manager, key, id string) (*Timer, error) {
	for _, part := range []struct{ field, text string }{{"manager", manager}, {"key", key}, {"timer", id}} {
		if err := agent.ValidKey(part.field, part.text); err != nil {
			return nil, err
		}
	}
	t := &Timer{Tx: c, name: kv.TimerName{Manager: manager, Key: key, ID: id}}
	raw, err := c.Rows.Get(t.keyOf(kv.KindTimer))
	if err != nil || raw == nil {
		return t, err
	}
	t.Row, err = command.DecodeTimerRow(id, raw)
	return t, err
}

// keyOf returns the key of the timer's row of a kind.
func (t *Timer) keyOf(kind string) string { return t.name.Row(kind, t.Scope) }

// Put sets a timer. It refuses a timer whose signal the manager's handler cannot accept, since each
// attempt would fail. It does not check the timers of stored jobs.
func Put(c *txn.Tx, op *agent.PutTimer) (agent.OpResult, error) {
	if c.Level >= txn.EndingLevel && !strings.HasPrefix(op.Timer.ID, agent.CronTimerPrefix) {
		row, err := manager.Load(c, op.Timer.Manager)
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

// setTimer sets a timer, with the generation that mint returns.
func setTimer(c *txn.Tx, op *agent.Timer, mint func() uint64) (agent.OpResult, error) {
	if op.Next < 0 || op.Cron == "" && op.Next == 0 {
		return nil, agent.Invalid("at", "at = %d is not a valid time", op.Next)
	}
	t, err := Open(c, op.Manager, op.Key, op.ID)
	if err != nil {
		return nil, err
	}
	now := c.Progress.Wall
	row := &logpb.TimerRow{
		Plan: command.EncodePlan(op), Generation: mint(), Next: op.Next, CreatedAt: now, UpdatedAt: now, Size: timerBytes(op),
	}
	row.Plan.Data = nil // it has its own row
	if old := t.Row; old != nil {
		if !seededbug.Is(seededbug.TimerKeepsItsPlace) {
			t.unplace()
		}
		row.CreatedAt = old.CreatedAt
		c.AddUsage(0, int64(row.Size)-int64(old.Size))
	} else {
		if err := t.room(); err != nil {
			return nil, err
		}
		c.AddUsage(1, int64(row.Size))
		if err := c.CountTimer(t.keyOf(kv.KindTimer), 1); err != nil {
			return nil, err
		}
	}
	t.Row = row
	c.Rows.Set(t.keyOf(kv.KindTimerData), op.Data)
	return t.store()
}

// timerBytes returns the bytes that a timer counts for.
func timerBytes(op *agent.Timer) uint64 {
	return uint64(len(op.Cron) + len(op.TimeZone) + len(op.Type) + len(op.Data))
}

// room returns an error if the instance of a new timer has too many.
func (t *Timer) room() error {
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

// Delete runs delete_timer.
func Delete(c *txn.Tx, op *agent.DeleteTimer) (agent.OpResult, error) {
	t, err := Open(c, op.Manager, op.Key, op.ID)
	if err != nil {
		return nil, err
	}
	if t.Row == nil {
		return &agent.DeleteResult{}, nil
	}
	if err := t.Drop(); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: t.Row.Generation}, nil
}

// Drop removes the timer.
func (t *Timer) Drop() error {
	t.unplace()
	t.Rows.Remove(t.keyOf(kv.KindTimer))
	t.Rows.Remove(t.keyOf(kv.KindTimerData))
	t.AddUsage(-1, -int64(t.Row.Size))
	t.recordChange(&logpb.Change{Deleted: true})
	return t.CountTimer(t.keyOf(kv.KindTimer), -1)
}

// recordChange records a change of the timer.
func (t *Timer) recordChange(change *logpb.Change) {
	change.Kind, change.Manager, change.Instance, change.Key = string(agent.ChangedTimer), t.name.Manager, t.name.Key, t.name.ID
	t.RecordLateChange(change)
}

// pendingTimer returns a timer whose pending occurrence is the given one.
func pendingTimer(c *txn.Tx, manager, key, id string, generation uint64, instant int64) (*Timer, error) {
	t, err := Open(c, manager, key, id)
	if err != nil {
		return nil, err
	}
	var e *agent.Error
	switch row := t.Row; {
	case row == nil:
		e = agent.Errorf(agent.CodeConflict, "timer %q of instance %q has ended", id, key)
	case row.Generation != generation && seededbug.Is(seededbug.OldTimerIsAcked):
		return t, nil
	case row.Generation != generation:
		e = agent.Errorf(agent.CodeConflict, "timer %q of instance %q has been replaced: it is of generation %d, not %d", id, key, row.Generation, generation)
	case row.Next != instant:
		e = agent.Errorf(agent.CodeConflict, "timer %q of instance %q has occurrence %d pending, not %d", id, key, row.Next, instant)
	default:
		return t, nil
	}
	return nil, e
}

// Ack runs ack_timer.
func Ack(c *txn.Tx, op *agent.AckTimer) (agent.OpResult, error) {
	if op.Next != 0 && op.Next <= op.Instant {
		return nil, agent.Invalid("next", "next = %d does not come after %d", op.Next, op.Instant)
	}
	t, err := pendingTimer(c, op.Manager, op.Key, op.ID, op.Generation, op.Instant)
	if err != nil {
		return nil, err
	}
	if op.Next == 0 {
		return &agent.TimerResult{}, t.Drop()
	}
	t.unplace()
	t.Row.Next, t.Row.NotBefore, t.Row.Attempts, t.Row.Parked, t.Row.LastError = op.Next, 0, 0, false, ""
	return t.store()
}

// Fail runs fail_timer.
func Fail(c *txn.Tx, op *agent.FailTimer) (agent.OpResult, error) {
	if op.NotBefore < 0 {
		return nil, agent.Invalid("not_before", "not_before = %d must not be negative", op.NotBefore)
	}
	t, err := pendingTimer(c, op.Manager, op.Key, op.ID, op.Generation, op.Instant)
	if err != nil {
		return nil, err
	}
	t.unplace()
	if !op.Waits {
		t.Row.Attempts++
	}
	t.Row.NotBefore, t.Row.LastError = op.NotBefore, op.Error
	t.Row.Parked = t.Row.Attempts >= agent.TimerAttemptsMax
	return t.store()
}

// store queues the timer, writes its row, and records the change.
func (t *Timer) store() (agent.OpResult, error) {
	t.place()
	if err := t.write(); err != nil {
		return nil, err
	}
	change := &logpb.Change{Revision: t.Row.Generation}
	if t.Row.Parked {
		change.Status = agent.TimerParked
	}
	t.recordChange(change)
	return &agent.TimerResult{Timer: command.TimerOf(t.name, t.Row, nil)}, nil
}

// place adds the timer to the queue or the index that its row calls for.
func (t *Timer) place() {
	if at := max(t.Row.Next, t.Row.NotBefore); !t.Row.Parked {
		if at <= t.Progress.Wall {
			t.Row.Due = true
			t.Rows.Set(t.keyOf(kv.KindTimerDue), kv.Indexed)
			t.NotifyWatchers(kv.TimersDueKey)
		} else {
			t.Row.Queued = at
			t.SetExpiry(at, t.keyOf(kv.KindTimer))
		}
	}
}

func (t *Timer) write() error {
	raw := command.Marshal(t.Row)
	t.Rows.Set(t.keyOf(kv.KindTimer), raw)
	return nil
}

// unplace removes the timer from the queue and the index.
func (t *Timer) unplace() {
	if t.Row.Due {
		t.Rows.Remove(t.keyOf(kv.KindTimerDue))
	}
	t.ClearExpiry(t.Row.Queued, t.keyOf(kv.KindTimer))
	t.Row.Due, t.Row.Queued = false, 0
}

// Expire handles a due queue entry of a timer.
func Expire(c *txn.Tx, row string, when int64) error {
	_, n, _ := kv.SplitTimer(row)
	t, err := Open(c, n.Manager, n.Key, n.ID)
	if err != nil || t.Row == nil || t.Row.Queued != when {
		return err
	}
	t.Row.Queued = 0
	t.place()
	return t.write()
}
