package top

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
)

var sessionsPage = page{
	name: "sessions", sort: 1, nothing: "no sessions: dormctl sessions start creates one",
	columns: []column{
		{name: "scope", left: true, least: 8, drop: 5},
		{name: "session", left: true, least: 14},
		{name: "agent", left: true, least: 10, drop: 4},
		{name: "status", left: true, drop: 1},
		{name: "owner", left: true, least: 8, drop: 3},
		{name: "age", desc: true, drop: 6},
		{name: "lease left", drop: 2},
		{name: "turns", desc: true, drop: 7},
	},
}

// sessions returns the page of the sessions of all scopes.
func (s *source) sessions(ctx context.Context) (out answer) {
	now := time.Now()
	err := eachScope(ctx, s.store, func(scope *agent.Scope) (bool, error) {
		err := eachPage(ctx, s.store, scope.Name, func(page agent.Page) agent.Read { return &agent.ListSessions{Page: page} }, func(list *agent.SessionList) (string, error) {
			for i := range list.Items {
				out.rows = append(out.rows, sessionRow(now, scope.Name, &list.Items[i]))
			}
			if len(out.rows) > rowsMax {
				return "", nil
			}
			return list.Next, nil
		})
		return len(out.rows) <= rowsMax, err
	})
	if err != nil {
		out.lose("list the sessions", err)
	}
	out.cut("sessions")
	out.at = now
	return out
}

func sessionRow(now time.Time, scope string, s *agent.SessionRow) row {
	status := words(string(s.Status))
	switch s.Status {
	case agent.SessionRunning:
		status = status.in(green)
	case agent.SessionWaiting:
		status = status.in(yellow)
	case agent.SessionFailed:
		status = status.in(red)
	case agent.SessionFinished, agent.SessionCancelled:
		status = status.in(faint)
	default:
	}
	owner, left := orDash(""), unknown("-")
	if s.Lease != nil {
		owner = words(s.Lease.Owner)
		left = span(-since(now, s.Lease.ExpiresAt))
		if s.Recoverable {
			left.text, left.width, left.colour = "expired", len("expired"), red
		}
	}
	return row{key: fmt.Sprintf("%q %q", scope, s.ID), cells: []cell{
		words(scope), words(s.ID), orDash(s.Agent), status, owner, span(since(now, s.CreatedAt)), left, count(s.RequestCount),
	}}
}
