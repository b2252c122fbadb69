package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/timer"
)

// DueTimers lists timers of all scopes that are to be fired, or reckoned, as of
// now, from a place on that an earlier call gave; "" is the beginning. It gives
// the place where to go on, "" at the end. Wall is the log's time as of the same
// moment.
func (m *Machine) DueTimers(from string, limit int) (due []agent.DueTimer, next string, wall int64, err error) {
	view := m.View()
	defer view.Close()
	if view.err != nil {
		return nil, "", 0, view.err
	}
	r := view.reader("")
	lower := max(kv.KindTimerDue, from)
	last, err := r.EachOfPage(lower, kv.After(kv.KindTimerDue), uint64(limit), agent.ReadBytesMax-agent.TimerDataBytesMax, func(key string, _ []byte) (int, error) {
		scope, n, _ := kv.SplitTimer(key)
		if view.imports[scope] != nil {
			return 0, nil // the end of the import wakes the leader
		}
		one := view.reader(scope)
		raw, err := one.Get(n.Row(kv.KindTimer, scope))
		if err != nil || raw == nil {
			return 0, err
		}
		t, err := timer.Read(one, n, raw)
		if err != nil {
			return 0, err
		}
		due = append(due, agent.DueTimer{Scope: scope, Timer: t})
		return len(key) + len(raw) + len(t.Data), nil
	})
	if last != "" {
		next = last + "\x00"
	}
	return due, next, view.progress.Wall, err
}

// WatchDueTimers signals after each entry that made a timer due: see
// WatchThread.
func (m *Machine) WatchDueTimers() (changed <-chan struct{}, cancel func()) {
	return m.watches.add(kv.TimersDueKey)
}
