package report

import (
	"bytes"
	_ "embed" // for the page and its style
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// eventsMax bounds the events that a page lists.
const eventsMax = 1000

// view is a run in the form that the page shows: all numbers and times are text.
type view struct {
	*Run
	Style           template.CSS
	Says            string
	Title, Subtitle string
	Cut             bool
	Findings        []findingView
	Checks          []checkView
	Counts          []countView
	Figures         []*figure
	Recovery        string
	Faults          []faultView
	Leaders         string
	Losses          []lossView
	Events          []eventView
	EventsLeftOut   int
	Plan            string
	Footer          string
}

type checkView struct {
	Check, Ops, Why, Counts, Took string
	Verdict                       check.Verdict
}

type countView struct {
	Name, Call, Calls, OK, Refused, Unknown, P50, P99, Codes string
}

type faultView struct {
	Step                                          int
	Name, From, To, AfterFault, AfterHeal, Detail string
}

type lossView struct {
	At, Node, Took, Fault string
	Term                  uint64
}

type eventView struct {
	history.Event
	At string
}

// Page writes the report of a run as one self-contained page of HTML.
func Page(w io.Writer, run *Run) error {
	v := &view{
		Run: run, Style: template.CSS(pageStyle), Says: says(run), Cut: run.History.Cut,
		Title: title(run.Header), Subtitle: subtitle(run), Plan: plan(run.Header.Plan),
		Footer: fmt.Sprintf("%s calls in %s", count(len(run.History.Ops)), HistoryName),
	}
	var err error
	if v.Findings, err = findings(run); err != nil {
		return err
	}
	if v.Figures, err = figures(run.History); err != nil {
		return err
	}
	v.checks(run.Results)
	v.counts(Counts(run.History))
	v.recovered(check.Recoveries(run.History), Losses(run.History))
	v.events(run.History.Events)
	if err := pageTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func (v *view) checks(results []check.Result) {
	for _, r := range results {
		v.Checks = append(v.Checks, checkView{
			Check: r.Check, Verdict: r.Verdict, Ops: count(r.Ops), Why: r.Why, Counts: pairs(r.Counts), Took: short(r.Took),
		})
	}
}

func (v *view) counts(counts []Count) {
	for _, c := range counts {
		name := c.name()
		if c.Call != "" {
			name = c.Call
		}
		v.Counts = append(v.Counts, countView{
			Name: name, Call: c.Call, Calls: count(c.Calls), OK: count(c.OK), Refused: count(c.Refused), Unknown: count(c.Unknown),
			P50: short(c.P50), P99: short(c.P99), Codes: pairs(c.Codes),
		})
	}
}

func (v *view) recovered(recoveries []check.Recovery, losses []Loss) {
	v.Recovery, v.Leaders = recoveryLine(recoveries), lossLine(losses)
	for _, r := range recoveries {
		f := faultView{Step: r.Step, Name: label(r.Window), From: at(r.From), To: at(r.To), Detail: strings.TrimPrefix(r.Detail, r.Variant+": ")}
		f.AfterFault, f.AfterHeal = wait(r.AfterFault), wait(r.AfterHeal)
		if r.To == history.Never {
			f.AfterHeal = ""
		}
		v.Faults = append(v.Faults, f)
	}
	for _, l := range losses {
		view := lossView{At: at(l.At), Node: l.Node, Term: l.Term, Took: short(l.Took), Fault: l.Fault}
		if l.Step > 0 {
			view.Fault = fmt.Sprintf("step %d, %s", l.Step, l.Fault)
		}
		if l.Never {
			view.Took += ", and no commit since"
		}
		v.Losses = append(v.Losses, view)
	}
}

func (v *view) events(events []history.Event) {
	for _, e := range events {
		if e.Kind == history.EventSample {
			continue // plotted
		}
		if len(v.Events) == eventsMax {
			v.EventsLeftOut++
			continue
		}
		v.Events = append(v.Events, eventView{Event: e, At: at(e.At)})
	}
}

// plan returns a plan as indented JSON, or unchanged if it is not valid JSON.
func plan(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// pairs returns counts as text, ordered by name.
func pairs(counts map[string]int) string {
	list := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, name+" "+count(counts[name]))
	}
	return strings.Join(list, ", ")
}

// count formats a number with separators between the thousands.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// short formats a duration, rounded for a reader.
func short(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// at formats an instant of a run.
func at(d time.Duration) string {
	if d == history.Never {
		return "never"
	}
	return fmt.Sprintf("%.3f", d.Seconds())
}

// wait formats how long an event took to happen, if it happened.
func wait(d time.Duration) string {
	if d == history.Never {
		return "never"
	}
	return short(d)
}
