package top

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"dormouse/agent"
)

// timersRead is the maximum number of timers that top reads to find those that are due next.
const timersRead = 10 * rowsMax

var timersPage = page{
	name: "timers", sort: 0, nothing: "no timers: dormctl timers put sets one",
	columns: []column{
		{name: "due in"},
		{name: "scope", left: true, least: 8, drop: 5},
		{name: "timer", left: true, least: 10},
		{name: "instance", left: true, least: 14, drop: 1},
		{name: "attempts", desc: true, drop: 4},
		{name: "state", left: true, drop: 2},
		{name: "why", left: true, least: 12, drop: 3},
	},
}

// timers returns the page of the timers of all scopes that are due next.
func (s *source) timers(ctx context.Context) (out answer) {
	now, read := time.Now(), 0
	more := func() bool { return read < timersRead }
	var due []agent.DueTimer
	err := s.eachManager(ctx, func(scope *agent.Scope) bool { return scope.Timers > 0 }, func(m managerName) (bool, error) {
		list := func(page agent.Page) agent.Read { return &agent.ListTimers{Manager: m.manager, Page: page} }
		err := eachPage(ctx, s.store, m.scope, list, func(list *agent.TimerList) (string, error) {
			for _, t := range list.Items {
				t.Data = nil
				due = append(due, agent.DueTimer{Scope: m.scope, Timer: t})
			}
			if read += len(list.Items); !more() {
				return "", nil
			}
			return list.Next, nil
		})
		return more(), err
	})
	if err != nil {
		out.lose("list the timers", err)
	}
	if !more() {
		out.note("only the first %d timers were read", read)
	}
	slices.SortStableFunc(due, func(a, b agent.DueTimer) int { return cmp.Compare(dueAt(&a.Timer), dueAt(&b.Timer)) })
	if len(due) > rowsMax {
		due = due[:rowsMax]
		out.note("only the %d timers that are due next are shown", rowsMax)
	}
	for i := range due {
		out.rows = append(out.rows, timerRow(now, &due[i]))
	}
	out.at = now
	return out
}

// dueAt returns when a timer is due, in Unix ms: after a failed attempt, when the next one is.
// It is 0 for a parked timer, and for an instant that the leader has not computed yet.
func dueAt(t *agent.Timer) int64 {
	if t.Parked {
		return 0
	}
	return max(t.Next, t.NotBefore)
}

func timerRow(now time.Time, t *agent.DueTimer) row {
	due := unknown("-")
	if at := dueAt(&t.Timer); at > 0 {
		if due = span(-since(now, at)); at < now.UnixMilli() {
			due = due.in(yellow)
		}
	}
	state := words("waits")
	switch {
	case t.Parked:
		state = words("parked").in(red)
	case t.LastError != "":
		state = words("failed").in(yellow)
	}
	attempts := count(t.Attempts)
	if t.Attempts > 0 {
		attempts = attempts.in(yellow)
	}
	return row{key: fmt.Sprintf("%q %q %q %q", t.Scope, t.Manager, t.Key, t.ID), cells: []cell{
		due, words(t.Scope), words(t.ID), words(t.Manager + "/" + t.Key), attempts, state, orDash(t.LastError),
	}}
}
