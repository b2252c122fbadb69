package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
	"dormouse/jepsen/sim"
)

func (a *app) proofCommand() *cobra.Command {
	var covers, simulated []string
	var page string
	cmd := &cobra.Command{
		Use: "proof", Short: "Summarize covers and simulated runs on a page with plots", Args: cli.Exactly(),
		Long: "proof reads the runs of covers (full) and the results of simulated runs (sim -o json), and writes one page: the required results, the calls judged by workload\n" +
			"and fault, the waits after the loss of a leader, and every run that is not ok with the command that repeats it. It makes no runs.\n\n" + exitTable,
		Example: `  dormjepsen full --dir runs/full --budget 3h
  dormjepsen sim --runs 200 --workload all -o json > runs/sim.json
  dormjepsen proof --cover runs/full --sim runs/sim.json --page runs/proof.html`,
		RunE: func(*cobra.Command, []string) error {
			if len(covers)+len(simulated) == 0 {
				return cli.Usagef("name the runs: --cover DIR, --sim FILE, or both")
			}
			return a.prove(covers, simulated, page)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&covers, "cover", nil, "directory of a cover; may be repeated")
	flags.StringSliceVar(&simulated, "sim", nil, "file with what sim -o json wrote, once or several times; may be repeated")
	flags.StringVar(&page, "page", filepath.Join(runsDir, "proof.html"), "file for the page")
	return cmd
}

// proofDocument is a proof in JSON.
type proofDocument struct {
	Verdict         check.Verdict `json:"verdict"`
	Runs            int           `json:"runs"`
	Judged          int           `json:"judged"`
	Took            time.Duration `json:"took"`
	SimulatedRuns   int           `json:"simulated_runs"`
	SimulatedJudged int           `json:"simulated_judged"`
	Simulated       time.Duration `json:"simulated"`
	Bars            []report.Bar  `json:"bars"`
	Page            string        `json:"page"`
}

// prove writes the page of a proof, and prints its summary.
func (a *app) prove(covers, simulated []string, page string) error {
	p := &report.Proof{}
	var parts []outcome
	for _, dir := range covers {
		runs, err := jepsen.ReadCover(dir)
		if err != nil {
			return cli.Usagef("--cover: %w", err)
		}
		for _, done := range runs {
			part := endedPart(done)
			parts = append(parts, part)
			if part.Error != "" {
				p.Failed = append(p.Failed, part.Name+": "+part.Error)
				continue
			}
			p.Runs = append(p.Runs, part.Result)
		}
	}
	if len(covers) > 0 {
		p.Bars = sum(parts, len(parts)).bars(barJudged)
	}
	for _, path := range simulated {
		runs, err := readSimulated(path)
		if err != nil {
			return cli.Usagef("--sim: %w", err)
		}
		p.Simulated = append(p.Simulated, runs...)
	}
	if err := report.WriteProof(page, p); err != nil {
		return err
	}
	d := proofDocument{Verdict: p.Verdict(), Runs: len(p.Runs), SimulatedRuns: len(p.Simulated), Bars: p.Bars, Page: page}
	d.Judged, d.SimulatedJudged = p.Judged()
	d.Took, d.Simulated = p.Hours()
	if err := a.print(d, d.table()); err != nil {
		return err
	}
	return verdict(d.Verdict, false)
}

func (d proofDocument) table() string {
	text := ""
	if len(d.Bars) > 0 {
		text = barTable(d.Bars) + "\n"
	}
	return text + fmt.Sprintf("%s: %d calls judged in %d runs (%.2f h); %d in %d simulated runs (%.2f simulated hours)\npage: %s\n",
		d.Verdict, d.Judged, d.Runs, d.Took.Hours(), d.SimulatedJudged, d.SimulatedRuns, d.Simulated.Hours(), d.Page)
}

// readSimulated reads what sim wrote as JSON, one document after the other. Runs with a seeded bug
// are left out: they are meant to fail.
func readSimulated(path string) ([]report.Simulated, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read simulated runs: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	var list []report.Simulated
	for d := json.NewDecoder(f); ; {
		var document simDocument
		if err := d.Decode(&document); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("read simulated runs: %s is not what sim -o json writes: %w", path, err)
		}
		for _, run := range document.Runs {
			if run.Order.Bug == "" {
				list = append(list, simulatedRun(run))
			}
		}
	}
}

func simulatedRun(d sim.Document) report.Simulated {
	s := report.Simulated{
		Seed: d.Order.Seed, Command: d.Order.Command(), Verdict: d.Verdict, Simulated: d.Simulated, CPU: d.CPU, Calls: d.Calls, Faults: map[string]int{},
	}
	for _, step := range d.Steps {
		s.Faults[step.Fault+"/"+step.Variant]++
	}
	var why []string
	if d.Broken != "" {
		why = append(why, d.Broken)
	}
	s.Why = strings.Join(append(why, report.Reasons(d.Results)...), "; ")
	return s
}
