package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/timer"
)

// DueTimers returns at most limit timers of all scopes that are due to be fired, or whose next time
// must be computed. It starts at from, which is the next of an earlier call or "" for the
// beginning. next is "" at the end. wall is the log's time of the same state.
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
			return 0, nil // the end of the import notifies the leader
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
