package top

import (
	"fmt"

	"dormouse/agent/layout"
	"dormouse/internal/cli"
)

var nodesPage = page{
	name: "nodes", sort: 0, nothing: "no nodes",
	columns: []column{
		{name: "node", left: true, least: 12},
		{name: "status", left: true, drop: 1},
		{name: "lease", left: true, drop: 14},
		{name: "partitions", desc: true, drop: 8},
		{name: "share", desc: true, drop: 13},
		{name: "leaving", desc: true, drop: 12},
		{name: "coming", desc: true, drop: 11},
		{name: "applied", desc: true, drop: 10},
		{name: "lag", desc: true, drop: 2},
		{name: "entries/s", desc: true, drop: 6},
		{name: "awake", desc: true, drop: 5},
		{name: "waking", desc: true, drop: 9},
		{name: "attached", desc: true, drop: 9},
		{name: "signals/s", desc: true, drop: 3},
		{name: "trend", desc: true, drop: 4},
		{name: "wakes/s", desc: true, drop: 7},
		{name: "failed", desc: true, drop: 8},
		{name: "crashed", desc: true, drop: 7},
	},
}

// sparkWidth is the width of a sparkline in a table.
const sparkWidth = 10

// nodeRows returns the rows of the page of nodes, and what it says about them.
func nodeRows(doc topDoc, signals map[string]*history) (out answer) {
	for _, n := range doc.Nodes {
		name, status := n.Node, words(n.Status)
		if n.Leader {
			name += " *"
		}
		switch n.Status {
		case "alive":
			status = status.in(green)
		case "failed":
			status = status.in(red)
		default:
			status = status.in(yellow)
		}
		lease := words("yes")
		if !n.Leased {
			lease = words("no").in(yellow)
		}
		share := float64(n.Partitions) / layout.Partitions
		cells := []cell{
			words(name), status, lease, count(n.Partitions), number(fmt.Sprintf("%.1f%%", 100*share), share), count(n.Draining), count(n.Coming),
		}
		if n.AppliedIndex == 0 {
			cells = append(cells, unknown("?"), unknown("?"), unknown("?"))
		} else {
			cells = append(cells, count(n.AppliedIndex), count(n.Lag), perSecond(n.EntriesPerSecond))
		}
		if n.Error != "" {
			for range 7 {
				cells = append(cells, unknown("?"))
			}
			cells = append(cells, unknown("?"))
			out.errs = append(out.errs, oneLine(n.Node+": "+n.Error))
		} else {
			line := words("")
			if h := signals[n.Node]; h != nil {
				line = words(h.spark(sparkWidth))
			}
			line.order, line.num = n.SignalsPerSecond, true
			cells = append(cells, count(n.Awake), count(n.Waking), count(n.Attachments), perSecond(n.SignalsPerSecond), line,
				perSecond(n.WakesPerSecond), fault(n.Failed), fault(n.Crashed))
		}
		out.rows = append(out.rows, row{key: n.Node, cells: cells})
	}
	for _, m := range doc.Moves {
		to := m.To
		if to == "" {
			to = "no node"
		}
		out.note("from %s to %s: %s (%s)", m.From, to, cli.Count(uint64(m.Partitions), "partition"), m.Why)
	}
	out.cut("nodes")
	return out
}
