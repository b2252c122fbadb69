package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/history"
)

// Convergence judges whether all nodes converged once all faults were healed and
// writes had stopped. They must agree on applied index, term, chain of checksums, and
// the hash of everything they serve, and on the hash of every row they store. A node that
// did not answer has not converged.
func Convergence(h *history.History) Result {
	began := time.Now()
	r := Result{Check: "convergence", Verdict: OK, Counts: map[string]int{}}
	defer func() { r.Took = time.Since(began) }()
	look := lastLook(h)
	if len(look) == 0 {
		r.Verdict, r.Why = Unknown, "the nodes were not compared after the healing: the run was interrupted, or failed"
		return r
	}
	var broken findings
	nodes := map[string]Sample{}
	for _, e := range look {
		if s, ok := SampleOf(e); ok {
			nodes[e.Node] = s
		} else {
			broken.add("no answer", e.Node, fmt.Sprintf("node %s did not answer after the healing: %s", e.Node, e.Detail))
		}
	}
	r.Counts["nodes"], r.Counts["looks"] = len(look), look[0].Step
	equal(&broken, nodes, "applied index", func(s Sample) string { return fmt.Sprint(s.Applied) })
	equal(&broken, nodes, "term", func(s Sample) string { return fmt.Sprint(s.Term) })
	equal(&broken, nodes, "chain", func(s Sample) string { return fmt.Sprintf("%08x", s.Chain) })
	equal(&broken, nodes, "state", func(s Sample) string { return s.State })
	why := cmp.Or(sameRows(&broken, nodes), untoldRows(h, nodes))
	broken.judge(&r)
	if r.Verdict == OK && why != "" {
		r.Verdict, r.Why = Unknown, why
	}
	if r.Verdict == OK && slices.ContainsFunc(look, func(e history.Event) bool { return nodes[e.Node].State == "" }) {
		r.Verdict, r.Why = Unknown, "the nodes have one index, term and chain, but their states were not compared"
	}
	return r
}

// sameRows adds a finding for each node whose rows differ from those of the first node. It
// returns why the rows could not be compared, or "".
func sameRows(broken *findings, nodes map[string]Sample) (why string) {
	var first string
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		rows := nodes[node].Rows
		switch {
		case rows == nil:
		case first == "":
			first = node
		case rows.Index != nodes[first].Rows.Index:
			why = "the nodes were never asked for the hash of their rows at one index"
		case rows.Hash != nodes[first].Rows.Hash:
			broken.add("different rows", node, fmt.Sprintf("at index %d the rows of %s differ from those of %s: %s",
				rows.Index, node, first, strings.Join(differing(rows.Kinds, nodes[first].Rows.Kinds), ", ")))
		}
	}
	return why
}

// untoldRows returns which node did not tell the hash of its rows although it can, or "".
func untoldRows(h *history.History, nodes map[string]Sample) (why string) {
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		if s := nodes[node]; h.Header.Rows && s.State != "" && s.Rows == nil {
			return fmt.Sprintf("node %s did not tell the hash of its rows", node)
		}
	}
	return ""
}

// differing returns the kinds of rows that only one node has, or with another hash.
func differing(a, b map[string]string) []string {
	kinds := map[string]bool{}
	for _, rows := range []map[string]string{a, b} {
		for kind := range rows {
			if a[kind] != b[kind] {
				kinds[kind] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}

// lastLook returns the samples of the final look with the highest number.
func lastLook(h *history.History) []history.Event {
	var look []history.Event
	for _, e := range h.Events {
		if e.Kind != history.EventSample || e.Name != FinalLook {
			continue
		}
		if len(look) > 0 && e.Step != look[0].Step {
			look = nil
		}
		look = append(look, e)
	}
	return look
}

// equal adds a finding if the nodes have different values of one attribute.
func equal(broken *findings, nodes map[string]Sample, what string, of func(Sample) string) {
	by := map[string][]string{} // :: value → the nodes that have it
	for node, s := range nodes {
		by[of(s)] = append(by[of(s)], node)
	}
	if len(by) < 2 {
		return
	}
	var sides []string
	for value, names := range by {
		slices.Sort(names)
		sides = append(sides, fmt.Sprintf("%s at %s", strings.Join(names, " and "), value))
	}
	slices.Sort(sides)
	broken.add("different "+what, "", fmt.Sprintf("the nodes did not converge to one %s: %s", what, strings.Join(sides, ", ")))
}
