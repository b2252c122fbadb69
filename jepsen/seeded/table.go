package seeded

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Table returns the results as a text table, a line each.
func Table(results []Result) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "bug\tworkload\tnemesis\tnodes\tseed\ttime\tresult\tshown after\tby")
	for _, r := range results {
		name := string(r.Bug)
		if name == "" {
			name = "(none)"
		}
		came, shown := string(r.Verdict), ""
		if r.Err != nil {
			came = "no run: " + r.Err.Error()
		}
		if r.Shown > 0 {
			shown = r.Shown.Round(100 * time.Millisecond).String()
		}
		nemeses := strings.Join(r.Nemeses, ",")
		if nemeses == "" {
			nemeses = "none"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%v\t%s\t%s\t%s\n",
			name, strings.Join(r.Workloads, ","), nemeses, r.nodes(), r.Seed, r.Time, came, shown, strings.Join(r.By, "; "))
	}
	_ = w.Flush()
	return out.String()
}

func (s Trial) nodes() int {
	if s.Nodes == 0 {
		return 3
	}
	return s.Nodes
}
