package top

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
)

// rowsMax is the maximum number of rows of a page.
const rowsMax = agent.ListLimitMax

// askedAtOnce is how many questions of one page are under way at once.
const askedAtOnce = 8

// answer is what a page shows.
type answer struct {
	at    time.Time
	rows  []row
	notes []string // about the rows
	errs  []string // what did not answer
	lost  bool     // the rows are not all there are, because of an error
}

// cut shortens the rows to rowsMax, and says so.
func (a *answer) cut(what string) {
	if len(a.rows) > rowsMax {
		a.rows = a.rows[:rowsMax]
		a.note("only the first %d %s are shown", rowsMax, what)
	}
}

func (a *answer) note(format string, args ...any) {
	a.notes = append(a.notes, oneLine(fmt.Sprintf(format, args...)))
}

// fail adds an error of one part of the rows.
func (a *answer) fail(what string, err error) {
	a.errs = append(a.errs, oneLine(fmt.Sprintf("%s: %v", what, err)))
}

// lose adds an error of the rows as a whole.
func (a *answer) lose(what string, err error) {
	a.fail(what, err)
	a.lost = true
}

// source asks the cluster for the pages. Each method may run at most once at a time; different
// ones may run at once.
type source struct {
	app   *kit.App
	store kit.Store
	web   *kit.Web
	count *census

	managers managersSample // the last one of instances
}

// nodes returns a sample. Without placement it does not ask for the partitions.
func (s *source) nodes(ctx context.Context, placement bool) (*sample, error) {
	return look(ctx, s.app, s.store, placement)
}

// managerName is a manager of a scope.
type managerName struct{ scope, manager string }

func (m managerName) String() string { return m.scope + "/" + m.manager }

// eachManager calls see with the managers of all scopes that want selects, until see returns false.
func (s *source) eachManager(ctx context.Context, want func(*agent.Scope) bool, see func(managerName) (more bool, err error)) error {
	return eachScope(ctx, s.store, func(scope *agent.Scope) (bool, error) {
		more := true
		if !want(scope) {
			return more, nil
		}
		err := eachPage(ctx, s.store, scope.Name, func(page agent.Page) agent.Read { return &agent.ListManagers{Page: page} }, func(list *agent.ManagerList) (string, error) {
			for i := range list.Items {
				var err error
				if more, err = see(managerName{scope.Name, list.Items[i].Name}); err != nil || !more {
					return "", err
				}
			}
			return list.Next, nil
		})
		return more, err
	})
}

// since returns the time from an instant in Unix ms until now.
func since(now time.Time, ms int64) time.Duration { return now.Sub(time.UnixMilli(ms)) }

// clock returns the text of a time of day, in UTC.
func clock(at time.Time) string { return at.UTC().Format("15:04:05Z") }

// orDash returns a cell of text, or a faint dash.
func orDash(s string) cell {
	if s == "" {
		return words("-").in(faint)
	}
	return words(s)
}

// page returns what a page shows.
func (s *source) page(ctx context.Context, page int) answer {
	switch page {
	case onInstances:
		return s.instances(ctx)
	case onSessions:
		return s.sessions(ctx)
	case onTimers:
		return s.timers(ctx)
	default:
		return s.slowCalls(ctx)
	}
}

// dormant returns the number of stored instances; nil if it is not known yet. They are counted only
// while shown is true.
func (s *source) dormant(shown bool) *int {
	s.count.show(shown)
	return s.count.stored()
}
