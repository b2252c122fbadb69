package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// Text writes the result of a run for a terminal, or for the log of CI.
func Text(w io.Writer, run *Run) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", says(run), title(run.Header))
	fmt.Fprintf(&b, "%s\n\n", subtitle(run))

	var checks [][]string
	for _, r := range run.Results {
		checks = append(checks, []string{r.Check, string(r.Verdict), count(r.Ops), short(r.Took), notes(r)})
	}
	b.WriteString(Table([]string{"check", "verdict", "judged", "took", "notes"}, checks))
	var calls [][]string
	for _, c := range Counts(run.History) {
		if c.Call == "" {
			calls = append(calls, []string{c.name(), count(c.Calls), count(c.OK), count(c.Refused), count(c.Unknown), short(c.P50), short(c.P99)})
		}
	}
	b.WriteByte('\n')
	b.WriteString(Table([]string{"workload", "calls", "ok", "refused", "unknown", "p50", "p99"}, calls))

	var facts [][]string
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, []string{name, value})
		}
	}
	add("recovery", recoveryLine(check.Recoveries(run.History)))
	add("leaders", lossLine(Losses(run.History)))
	add("snapshots", installsLine(run.Results))
	for _, line := range run.Missing {
		add("missing", line)
	}
	if run.Dir != "" {
		add("history", filepath.Join(run.Dir, HistoryName))
		add("page", filepath.Join(run.Dir, PageName))
	}
	add("repeat", run.Header.Command)
	b.WriteByte('\n')
	b.WriteString(Table(nil, facts))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

// installsLine returns how many snapshots nodes installed during the run, or "" if
// liveness was not checked.
func installsLine(results []check.Result) string {
	for _, r := range results {
		if r.Check == check.LivenessName {
			return count(r.Counts[check.CountInstalls]) + " installed"
		}
	}
	return ""
}

// notes returns what a reader of a table should know of a result.
func notes(r check.Result) string {
	var list []string
	if r.Why != "" {
		list = append(list, r.Why)
	}
	for _, f := range firsts(r) {
		key := ""
		if f.Key != "" {
			key = " (" + f.Key + ")"
		}
		list = append(list, f.Rule+key+": "+f.Detail)
	}
	return strings.Join(list, "\n")
}

// says returns the verdict in one or two words.
func says(run *Run) string {
	switch {
	case run.Verdict == check.OK:
		return "OK"
	case run.Verdict == check.Violation:
		return "VIOLATION"
	case run.Interrupted:
		return "UNKNOWN (interrupted)"
	default:
		return "UNKNOWN"
	}
}

// title returns the name of what was run.
func title(h history.Header) string {
	nodes := "nodes"
	if h.Nodes == 1 {
		nodes = "node"
	}
	return fmt.Sprintf("%s under %s, %d %s", strings.Join(h.Workloads, ", "), strings.Join(h.Nemeses, ", "), h.Nodes, nodes)
}

// subtitle returns how it was run.
func subtitle(run *Run) string {
	h := run.Header
	list := []string{fmt.Sprintf("seed %d", h.Seed), fmt.Sprint(h.Time), fmt.Sprintf("%s calls", count(len(run.History.Ops)))}
	if !h.Started.IsZero() {
		list = append(list, "started "+h.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if run.Took > 0 {
		list = append(list, "took "+run.Took.Round(100*time.Millisecond).String())
	}
	if h.Build != "" {
		list = append(list, "dormoused "+h.Build)
	}
	return strings.Join(list, " · ")
}

// recoveryLine summarizes how soon commits succeeded after each fault was healed.
func recoveryLine(recoveries []check.Recovery) string {
	if len(recoveries) == 0 {
		return ""
	}
	var took []time.Duration
	never := 0
	for _, r := range recoveries {
		switch {
		case r.AfterHeal != history.Never:
			took = append(took, r.AfterHeal)
		case r.To != history.Never:
			never++
		}
	}
	line := fmt.Sprintf("%d faults", len(recoveries))
	if len(recoveries) == 1 {
		line = "1 fault"
	}
	if len(took) > 0 {
		median, worst := spread(took)
		line += fmt.Sprintf("; first commit after a healing: median %s, worst %s", short(median), short(worst))
	}
	if never > 0 {
		line += fmt.Sprintf("; none after %d of them", never)
	}
	return line
}

// lossLine summarizes how long callers waited for another leader.
func lossLine(losses []Loss) string {
	if len(losses) == 0 {
		return ""
	}
	line := fmt.Sprintf("%d lost", len(losses))
	if waits := Waits(losses); len(waits) > 0 {
		median, worst := spread(waits)
		line += fmt.Sprintf("; silence until the next commit where the fault met the leader alone (%d): median %s, worst %s", len(waits), short(median), short(worst))
	}
	return line
}
