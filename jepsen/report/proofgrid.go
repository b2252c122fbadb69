package report

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"

	"dormouse/jepsen/check"
)

// grid is the table of judged calls by workload and by fault.
type grid struct {
	Columns []string // the faults
	Rows    []gridRow
	Totals  []string // of each column
}

type gridRow struct {
	Workload string
	Cells    []gridCell
	Total    string
}

// gridCell is what one workload was called under one fault.
type gridCell struct {
	Text    string
	Title   string // with the exact number
	Verdict check.Verdict
	Shade   template.CSS // darker for more calls
}

// pair is a workload and a fault.
type pair struct{ workload, fault string }

// judgedCalls is what the runs of one pair judged.
type judgedCalls struct {
	runs, calls int
	verdict     check.Verdict // the worst one of the workload's checks
}

// newGrid returns the table of some runs. A run with several faults counts for each.
func newGrid(runs []Document) grid {
	cells, workloads, faults := map[pair]judgedCalls{}, map[string]int{}, map[string]int{}
	most := 0
	for _, d := range runs {
		for _, r := range d.Results {
			if !slices.Contains(d.Header.Workloads, r.Check) {
				continue
			}
			workloads[r.Check] += r.Ops
			for _, fault := range d.Header.Nemeses {
				faults[fault] += r.Ops
				at := pair{r.Check, fault}
				m, met := cells[at]
				if !met {
					m.verdict = check.OK
				}
				m.runs, m.calls, m.verdict = m.runs+1, m.calls+r.Ops, check.Worse(m.verdict, r.Verdict)
				cells[at] = m
				most = max(most, m.calls)
			}
		}
	}
	g := grid{Columns: slices.Sorted(maps.Keys(faults))}
	for _, fault := range g.Columns {
		g.Totals = append(g.Totals, brief(faults[fault]))
	}
	for _, workload := range slices.Sorted(maps.Keys(workloads)) {
		row := gridRow{Workload: workload, Total: count(workloads[workload])}
		for _, fault := range g.Columns {
			row.Cells = append(row.Cells, newCell(workload, fault, cells[pair{workload, fault}], most))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func newCell(workload, fault string, m judgedCalls, most int) gridCell {
	if m.runs == 0 {
		return gridCell{Title: workload + " under " + fault + ": no run"}
	}
	share := math.Log1p(float64(m.calls)) / math.Log1p(float64(max(most, 1)))
	return gridCell{
		Text: brief(m.calls), Verdict: m.verdict,
		Title: fmt.Sprintf("%s under %s: %s calls judged, %s; runs: %d", workload, fault, count(m.calls), m.verdict, m.runs),
		Shade: template.CSS(fmt.Sprintf("--share: %.0f%%", 8+62*share*share)),
	}
}

// brief formats a number in at most four characters.
func brief(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", math.Floor(float64(n)/100)/10)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", math.Floor(float64(n)/1e5)/10)
}
