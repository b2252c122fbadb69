package top

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// topNodeDoc is the row of one node.
type topNodeDoc struct {
	Node             string  `json:"node"`
	Zone             string  `json:"zone"`
	Leader           bool    `json:"leader"`
	Status           string  `json:"status"` // as dormctl members shows it
	Leased           bool    `json:"leased"`
	Partitions       int     `json:"partitions"` // owned, including the draining ones
	Draining         int     `json:"draining"`   // owned partitions that move to another node
	Coming           int     `json:"coming"`
	Error            string  `json:"error,omitzero"` // why the node's counts are unknown
	Awake            int     `json:"awake"`
	Waking           int     `json:"waking"`
	Hibernating      int     `json:"hibernating"`
	Attachments      int     `json:"attachments"`
	SignalsPerSecond float64 `json:"signals_per_second"`
	WakesPerSecond   float64 `json:"wakes_per_second"`
	Failed           uint64  `json:"failed"`
	Crashed          uint64  `json:"crashed"`

	// Only the page of nodes shows these.
	AppliedIndex     uint64  `json:"-"` // 0 if it is unknown
	Lag              uint64  `json:"-"` // log entries behind the cluster's last one
	EntriesPerSecond float64 `json:"-"`
}

// topMoveDoc is the number of partitions that move from one node to another.
type topMoveDoc struct {
	From       string `json:"from"`
	To         string `json:"to"`
	Partitions int    `json:"partitions"`
	Why        string `json:"why"`
}

// topDoc is the result of top.
type topDoc struct {
	Time             int64        `json:"time"`
	ClusterID        string       `json:"cluster_id"`
	Leader           string       `json:"leader"`
	Nodes            []topNodeDoc `json:"nodes"`
	Free             int          `json:"free"` // partitions without an owner
	Awake            int          `json:"awake"`
	Dormant          *int         `json:"dormant"` // null before the first count
	SignalsPerSecond float64      `json:"signals_per_second"`
	EntriesPerSecond float64      `json:"-"`
	Moves            []topMoveDoc `json:"moves"`
}

// topOf combines two samples and the number of stored instances; before and stored
// may be nil.
func topOf(before, now *sample, stored *int) topDoc {
	doc := topDoc{
		Time: now.At.UnixMilli(), ClusterID: now.status.ClusterID, Leader: now.status.Leader, Free: now.Placement.Free,
		Nodes: []topNodeDoc{}, Moves: movesOf(now.Placement.Moving),
	}
	last := lastIndex(now)
	doc.EntriesPerSecond = growth(before, now, lastIndex)
	members, counts := map[string]layout.MemberStatus{}, map[string]agent.NodeStats{}
	for _, m := range now.status.Members {
		members[m.ID] = m
	}
	for _, n := range now.Stats.Nodes {
		counts[n.Node] = n
	}
	for _, p := range now.Placement.Nodes {
		n := topNodeDoc{
			Node: p.Node, Zone: p.Zone, Leader: p.Node == doc.Leader, Status: cmp.Or(members[p.Node].Status, "unknown"), Leased: p.Leased,
			Partitions: p.Owned, Draining: p.Draining, Coming: p.Coming,
		}
		c, asked := counts[p.Node]
		if n.Error = c.Error; !asked {
			n.Error = "the node was not asked"
		}
		n.Awake, n.Waking, n.Hibernating, n.Attachments = c.Awake, c.Waking, c.Draining, c.Attachments
		n.Failed, n.Crashed = c.Failed, c.Crashed
		n.SignalsPerSecond = rate(before, now, p.Node, func(n agent.NodeStats) uint64 { return n.Signals })
		n.WakesPerSecond = rate(before, now, p.Node, func(n agent.NodeStats) uint64 { return n.Wakes })
		applied := appliedBy(p.Node)
		if n.AppliedIndex = applied(now); n.AppliedIndex > 0 {
			n.Lag = last - n.AppliedIndex
		}
		n.EntriesPerSecond = growth(before, now, applied)
		doc.Awake += n.Awake + n.Hibernating
		doc.SignalsPerSecond += n.SignalsPerSecond
		doc.Nodes = append(doc.Nodes, n)
	}
	if stored != nil {
		dormant := max(0, *stored-doc.Awake)
		doc.Dormant = &dormant
	}
	return doc
}

// rate returns the growth of a node's counter in a second; 0 if the node has
// restarted.
func rate(before, now *sample, node string, counter func(agent.NodeStats) uint64) float64 {
	if before == nil || !now.At.After(before.At) {
		return 0
	}
	then, known := counterOf(before, node, counter)
	since, still := counterOf(now, node, counter)
	if !known || !still || since < then {
		return 0
	}
	return float64(since-then) / now.At.Sub(before.At).Seconds()
}

// lastIndex returns the index of the last log entry that a sample knows of.
func lastIndex(s *sample) uint64 {
	last := s.status.CommitIndex
	for _, m := range s.status.Members {
		last = max(last, m.AppliedIndex)
	}
	return last
}

// appliedBy returns a function that returns the index that a node has applied; 0 if it is
// unknown.
func appliedBy(node string) func(*sample) uint64 {
	return func(s *sample) uint64 {
		for _, m := range s.status.Members {
			if m.ID == node {
				return m.AppliedIndex
			}
		}
		return 0
	}
}

// growth returns the growth of an index in a second; 0 if it was unknown.
func growth(before, now *sample, index func(*sample) uint64) float64 {
	if before == nil || !now.At.After(before.At) {
		return 0
	}
	then, since := index(before), index(now)
	if then == 0 || since < then {
		return 0
	}
	return float64(since-then) / now.At.Sub(before.At).Seconds()
}

func counterOf(s *sample, node string, counter func(agent.NodeStats) uint64) (uint64, bool) {
	for _, n := range s.Stats.Nodes {
		if n.Node == node && n.Error == "" {
			return counter(n), true
		}
	}
	return 0, false
}

// movesOf groups the draining partitions by source, target and reason.
func movesOf(moving []layout.Partition) []topMoveDoc {
	type way struct{ from, to, why string }
	sums := map[way]int{}
	for _, p := range moving {
		sums[way{p.Owner, p.To, p.Why}]++
	}
	moves := []topMoveDoc{}
	for w, n := range maps.All(sums) {
		moves = append(moves, topMoveDoc{w.from, w.to, n, w.why})
	}
	slices.SortFunc(moves, func(a, b topMoveDoc) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Why, b.Why))
	})
	return moves
}

// topText returns doc as text for a terminal.
func topText(doc topDoc) string {
	dormant := "?"
	if doc.Dormant != nil {
		dormant = cli.Number(*doc.Dormant)
	}
	moving := 0
	for _, m := range doc.Moves {
		moving += m.Partitions
	}
	var b strings.Builder
	fmt.Fprintf(&b, "leader: %s   nodes: %d   partitions: %d, %d moving, %d free   %s\n", cli.Clean(cli.OrDash(doc.Leader)), len(doc.Nodes), layout.Partitions, moving, doc.Free, cli.When(doc.Time))
	fmt.Fprintf(&b, "instances: %d awake, %s dormant   %.1f signals/s\n\n", doc.Awake, dormant, doc.SignalsPerSecond)
	g := cli.Grid{Head: []string{"node", "status", "lease", "partitions", "share", "leaving", "coming", "awake", "waking", "attached", "signals/s", "wakes/s", "failed", "crashed"}}
	for _, n := range doc.Nodes {
		name := n.Node
		if n.Leader {
			name += " *"
		}
		row := []string{name, n.Status, kit.Yes(n.Leased), cli.Number(n.Partitions), fmt.Sprintf("%.1f%%", 100*float64(n.Partitions)/layout.Partitions), cli.Number(n.Draining), cli.Number(n.Coming)}
		if n.Error != "" {
			row = append(row, "?", "?", "?", "?", "?", "?", "?")
		} else {
			row = append(row, cli.Number(n.Awake), cli.Number(n.Waking), cli.Number(n.Attachments), fmt.Sprintf("%.1f", n.SignalsPerSecond),
				fmt.Sprintf("%.1f", n.WakesPerSecond), cli.Number(n.Failed), cli.Number(n.Crashed))
		}
		g.Add(row...)
	}
	b.WriteString(g.Text())
	if len(doc.Moves) > 0 {
		moves := cli.Grid{Head: []string{"from", "to", "partitions", "why"}, Apart: true}
		for _, m := range doc.Moves {
			moves.Add(m.From, cli.OrDash(m.To), cli.Number(m.Partitions), m.Why)
		}
		b.WriteString(moves.Text())
	}
	return b.String()
}
