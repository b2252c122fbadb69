package top

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
)

var instancesPage = page{
	name: "instances", sort: 0, nothing: "no managers: dormctl managers put creates one",
	columns: []column{
		{name: "manager", left: true, least: 14},
		{name: "scope", left: true, least: 8, drop: 4},
		{name: "awake", desc: true},
		{name: "waking", desc: true, drop: 5},
		{name: "hibernating", desc: true, drop: 7},
		{name: "attached", desc: true, drop: 6},
		{name: "signals/s", desc: true, drop: 1},
		{name: "wakes/s", desc: true, drop: 3},
		{name: "failed", desc: true, drop: 2},
		{name: "crashed", desc: true, drop: 2},
	},
}

// managersSample is the statistics of managers at one time.
type managersSample struct {
	at    time.Time
	stats map[managerName]agent.ManagerStats
}

// instances returns the page of the managers of all scopes.
func (s *source) instances(ctx context.Context) (out answer) {
	var names []managerName
	err := s.eachManager(ctx, func(*agent.Scope) bool { return true }, func(m managerName) (bool, error) {
		names = append(names, m)
		return len(names) <= rowsMax, nil
	})
	if err != nil {
		out.lose("list the managers", err)
	}
	if len(names) > rowsMax {
		names = names[:rowsMax]
		out.note("only the first %d managers are shown", rowsMax)
	}
	stats, errs := make([]agent.ManagerStats, len(names)), make([]error, len(names))
	var asking errgroup.Group
	asking.SetLimit(askedAtOnce)
	for i, m := range names {
		asking.Go(func() error {
			stats[i], errs[i] = s.store.Instances().Stats(ctx, m.scope, m.manager)
			return nil
		})
	}
	_ = asking.Wait() // the errors are in errs
	now := managersSample{at: time.Now(), stats: map[managerName]agent.ManagerStats{}}
	silent := map[string]bool{}
	for i, m := range names {
		if errs[i] != nil {
			out.fail(m.String(), errs[i])
			continue
		}
		for _, n := range stats[i].Nodes {
			if n.Error != "" && !silent[n.Node] {
				silent[n.Node] = true
				out.errs = append(out.errs, oneLine(n.Node+": "+n.Error))
			}
		}
		now.stats[m] = stats[i]
		out.rows = append(out.rows, managerRow(m, &s.managers, &now))
	}
	s.managers, out.at = now, now.at
	return out
}

// managerRow returns the row of a manager, from two samples.
func managerRow(m managerName, before, now *managersSample) row {
	var sum agent.NodeStats
	for _, n := range now.stats[m].Nodes {
		sum.Awake += n.Awake
		sum.Waking += n.Waking
		sum.Draining += n.Draining
		sum.Attachments += n.Attachments
		sum.Failed += n.Failed
		sum.Crashed += n.Crashed
	}
	rateOf := func(counter func(agent.NodeStats) uint64) float64 {
		if before.stats == nil {
			return 0
		}
		a, b := &sample{At: before.at, Stats: before.stats[m]}, &sample{At: now.at, Stats: now.stats[m]}
		total := 0.0
		for _, n := range b.Stats.Nodes {
			total += rate(a, b, n.Node, counter)
		}
		return total
	}
	awake := count(sum.Awake)
	if sum.Awake > 0 {
		awake = awake.in(green)
	}
	return row{key: fmt.Sprintf("%q", m), cells: []cell{
		words(m.manager), words(m.scope), awake, count(sum.Waking), count(sum.Draining), count(sum.Attachments),
		perSecond(rateOf(func(n agent.NodeStats) uint64 { return n.Signals })), perSecond(rateOf(func(n agent.NodeStats) uint64 { return n.Wakes })),
		fault(sum.Failed), fault(sum.Crashed),
	}}
}
