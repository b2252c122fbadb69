package doctor

import (
	"cmp"
	"fmt"
	"slices"
)

// severity says how much a finding matters.
type severity string

// The severities.
const (
	problem severity = "problem" // data or service is lost, or will be at the next failure
	warning severity = "warning" // something is not as it should be
	note    severity = "note"    // worth knowing
)

var ranks = map[severity]int{problem: 0, warning: 1, note: 2}

// finding is one thing that is wrong, and what to do about it.
type finding struct {
	Severity severity `json:"severity"`
	Check    string   `json:"check"`
	Node     string   `json:"node,omitzero"` // "" of the whole cluster
	What     string   `json:"what"`
	Do       string   `json:"do"`
}

// findings collects findings.
type findings []finding

func (f *findings) add(s severity, check, node, do, what string, args ...any) {
	*f = append(*f, finding{Severity: s, Check: check, Node: node, Do: do, What: fmt.Sprintf(what, args...)})
}

// sorted returns the findings, the worst first.
func (f findings) sorted() findings {
	slices.SortStableFunc(f, func(a, b finding) int {
		return cmp.Or(cmp.Compare(ranks[a.Severity], ranks[b.Severity]), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Node, b.Node))
	})
	return f
}

// worst returns the highest severity; "" if there are none but notes.
func (f findings) worst() severity {
	worst := severity("")
	for _, one := range f {
		if one.Severity == problem || one.Severity == warning && worst == "" {
			worst = one.Severity
		}
	}
	return worst
}
