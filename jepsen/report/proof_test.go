package report_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
)

var lookProof = flag.String("look-proof", "", "write the page of a made-up proof to this file")

// proof returns a proof of two runs on real nodes and two simulated ones, all ok.
func proof() *report.Proof {
	calm := made(3000)
	calm.Header.Workloads, calm.Header.Nemeses, calm.Header.Nodes = []string{"register"}, []string{"pause"}, 5
	simulated := report.Simulated{
		Seed: 7, Command: "dormjepsen sim --seed 7", Verdict: check.OK, Simulated: time.Hour, CPU: time.Minute, Calls: 5000, Faults: map[string]int{"partition/two-sides": 3},
	}
	later := simulated
	later.Seed, later.Command = 9, "dormjepsen sim --seed 9"
	return &report.Proof{
		Runs:      []report.Document{report.NewDocument(made(3000)), report.NewDocument(calm)},
		Simulated: []report.Simulated{simulated, later},
		Bars:      []report.Bar{{Bar: "calls judged", Wanted: "≥ 1000", Is: "3000", Verdict: check.OK}},
	}
}

func proofPage(t *testing.T, p *report.Proof) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.ProofPage(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAProofSumsItsRuns(t *testing.T) {
	text := proofPage(t, proof())
	contains(t, text,
		"Every promise held", "3,000 calls judged in 2 runs on real nodes", "10,000 in 2 simulated runs (2.00 simulated hours)",
		`title="register under kill: 1,000 calls judged, ok; runs: 1">1.0k</td>`, `title="append under pause: no run"></td>`,
		"Calls judged", "Waits for a leader", "kill, 2 losses", "Simulated time", "7 to 9", "partition/two-sides",
		"dormjepsen run --workload register,append --nemesis kill,partition --time 60s --seed 42 --nodes 3",
	)
	for _, bad := range []string{"src=", "href=", "url(", "@import", "#01FE", "#01fe", "ZgotmplZ", "Runs that are not ok", "NaN"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestAProofNamesTheRunsThatAreNotOK(t *testing.T) {
	p := proof()
	p.Runs[0] = report.NewDocument(failed(made(3000), 10))
	p.Simulated[1].Verdict, p.Simulated[1].Why = check.Unknown, "set: ran out of time"
	text := proofPage(t, p)
	if *lookProof != "" {
		if err := os.WriteFile(*lookProof, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	contains(t, text,
		"A promise was broken", "append: lost append: entry 17 was acknowledged and is not in the thread", "set: ran out of time", "<code>dormjepsen sim --seed 9</code>",
	)
	if !regexp.MustCompile(`class="cell violation"[^>]*title="append under kill`).MatchString(text) {
		t.Error("the cell of append under kill is no violation")
	}
	if strings.Index(text, "lost append") > strings.Index(text, "ran out of time") {
		t.Error("the violation does not come first")
	}
}

func TestTheVerdictOfAProofIsTheWorst(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *report.Proof)
		want   check.Verdict
	}{
		"all ok":                   {func(*report.Proof) {}, check.OK},
		"a run in violation":       {func(p *report.Proof) { p.Runs[1].Verdict = check.Violation; p.Bars[0].Verdict = check.Unknown }, check.Violation},
		"an unknown simulated run": {func(p *report.Proof) { p.Simulated[0].Verdict = check.Unknown }, check.Unknown},
		"a bar that is not known":  {func(p *report.Proof) { p.Bars[0].Verdict = check.Unknown }, check.Unknown},
		"a run that did not start": {func(p *report.Proof) { p.Failed = []string{"kill-3-set: no disk"} }, check.Unknown},
		"no run":                   {func(p *report.Proof) { *p = report.Proof{} }, check.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			p := proof()
			c.change(p)
			if got := p.Verdict(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			proofPage(t, p) // a page is made of it
		})
	}
}
