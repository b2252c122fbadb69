package report

import (
	_ "embed" // for the page
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
)

// Proof is what shows that a build keeps its promises: the runs of covers on real nodes, and runs of
// the simulator.
type Proof struct {
	Runs      []Document // in the order in which they were made
	Failed    []string   // runs that could not start, and why
	Simulated []Simulated
	Bars      []Bar
}

// Simulated is a run of the simulator.
type Simulated struct {
	Seed      uint64
	Command   string // repeats it
	Verdict   check.Verdict
	Why       string // of a verdict that is not ok
	Simulated time.Duration
	CPU       time.Duration
	Calls     int            // judged ones
	Faults    map[string]int // that were injected, by name
}

// Verdict returns the worst verdict of the runs and of the bars. It is unknown without a run.
func (p *Proof) Verdict() check.Verdict {
	worst := check.OK
	if len(p.Failed) > 0 || len(p.Runs)+len(p.Simulated) == 0 {
		worst = check.Unknown
	}
	for _, d := range p.Runs {
		worst = check.Worse(worst, d.Verdict)
	}
	for _, s := range p.Simulated {
		worst = check.Worse(worst, s.Verdict)
	}
	for _, b := range p.Bars {
		worst = check.Worse(worst, b.Verdict)
	}
	return worst
}

// Judged returns the number of calls that were judged, on real nodes and in the simulator.
func (p *Proof) Judged() (real, simulated int) {
	for _, d := range p.Runs {
		real += d.Judged()
	}
	for _, s := range p.Simulated {
		simulated += s.Calls
	}
	return real, simulated
}

// Hours returns how long the runs on real nodes took, and the virtual time of simulated ones.
func (p *Proof) Hours() (real, simulated time.Duration) {
	for _, d := range p.Runs {
		real += d.Took
	}
	for _, s := range p.Simulated {
		simulated += s.Simulated
	}
	return real, simulated
}

//go:embed proof.html
var proofText string

var proofTemplate = template.Must(template.New("proof").Parse(proofText))

// proofView is a proof in the form that the page shows.
type proofView struct {
	Style          template.CSS
	Verdict        check.Verdict
	Says, Subtitle string
	Builds         []string
	Bars           []Bar
	Grid           grid
	Sizes          []sizeView
	Figures        []*figure
	Problems       []problemView
	Failed         []string
	Simulated      []simulatedView
	Faults         []faultCount
	Commands       []string
}

type sizeView struct {
	Nodes           int
	Runs            int
	Calls, Installs string
}

type problemView struct {
	Verdict             check.Verdict
	Where, Why, Command string
}

type simulatedView struct{ Name, Value string }

type faultCount struct {
	Name  string
	Times string
}

// ProofPage writes a proof as one self-contained page of HTML.
func ProofPage(w io.Writer, p *Proof) error {
	real, simulated := p.Judged()
	took, virtual := p.Hours()
	v := &proofView{
		Style: template.CSS(pageStyle), Verdict: p.Verdict(), Bars: p.Bars, Failed: p.Failed,
		Says: map[check.Verdict]string{check.OK: "Every promise held", check.Violation: "A promise was broken"}[p.Verdict()],
		Subtitle: fmt.Sprintf("%s calls judged in %s runs on real nodes (%.1f hours), and %s in %s simulated runs (%.2f simulated hours)",
			count(real), count(len(p.Runs)), took.Hours(), count(simulated), count(len(p.Simulated)), virtual.Hours()),
		Grid: newGrid(p.Runs), Sizes: sizesOf(p.Runs), Problems: p.problems(),
	}
	if v.Says == "" {
		v.Says = "No promise was broken, and not all is known"
	}
	builds := map[string]bool{}
	for _, d := range p.Runs {
		builds[d.Header.Build] = true
		v.Commands = append(v.Commands, d.Header.Command)
	}
	v.Builds = slices.Sorted(maps.Keys(builds))
	v.simulated(p.Simulated)
	var err error
	if v.Figures, err = proofFigures(p); err != nil {
		return err
	}
	if err := proofTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// WriteProof writes the page of a proof to a file.
func WriteProof(path string, p *Proof) error {
	return create(path, func(w io.Writer) error { return ProofPage(w, p) })
}

func sizesOf(runs []Document) []sizeView {
	calls, installs, made := map[int]int{}, map[int]int{}, map[int]int{}
	for _, d := range runs {
		made[d.Header.Nodes]++
		calls[d.Header.Nodes] += d.Judged()
		installs[d.Header.Nodes] += d.Installs()
	}
	var list []sizeView
	for _, n := range slices.Sorted(maps.Keys(made)) {
		list = append(list, sizeView{n, made[n], count(calls[n]), count(installs[n])})
	}
	return list
}

// problems returns the runs whose verdict is not ok, violations first.
func (p *Proof) problems() (list []problemView) {
	for _, d := range p.Runs {
		if d.Verdict == check.OK {
			continue
		}
		list = append(list, problemView{Verdict: d.Verdict, Why: strings.Join(Reasons(d.Results), "; "), Command: d.Header.Command, Where: "real nodes"})
	}
	for _, s := range p.Simulated {
		if s.Verdict != check.OK {
			list = append(list, problemView{Verdict: s.Verdict, Why: s.Why, Command: s.Command, Where: "simulator"})
		}
	}
	slices.SortStableFunc(list, func(a, b problemView) int { return rank(a.Verdict) - rank(b.Verdict) })
	return list
}

func rank(v check.Verdict) int {
	return slices.Index([]check.Verdict{check.Violation, check.Unknown}, v)
}

// Reasons returns a line for each result that is not ok, with its check and the reason.
func Reasons(results []check.Result) (lines []string) {
	for _, r := range results {
		switch {
		case r.Verdict == check.OK:
		case len(r.Findings) > 0:
			lines = append(lines, fmt.Sprintf("%s: %s: %s", r.Check, r.Findings[0].Rule, r.Findings[0].Detail))
		default:
			lines = append(lines, r.Check+": "+r.Why)
		}
	}
	return lines
}

func (v *proofView) simulated(runs []Simulated) {
	if len(runs) == 0 {
		return
	}
	var virtual, cpu time.Duration
	first, last, faults := runs[0].Seed, runs[0].Seed, map[string]int{}
	for _, r := range runs {
		virtual, cpu = virtual+r.Simulated, cpu+r.CPU
		first, last = min(first, r.Seed), max(last, r.Seed)
		for name, n := range r.Faults {
			faults[name] += n
		}
	}
	v.Simulated = []simulatedView{
		{"runs", count(len(runs))},
		{"seeds", fmt.Sprintf("%d to %d", first, last)},
		{"simulated hours", fmt.Sprintf("%.2f", virtual.Hours())},
		{"CPU hours", fmt.Sprintf("%.2f", cpu.Hours())},
		{"simulated seconds a CPU second", fmt.Sprintf("%.0f", virtual.Seconds()/max(cpu.Seconds(), 1e-9))},
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		v.Faults = append(v.Faults, faultCount{name, count(faults[name])})
	}
}
