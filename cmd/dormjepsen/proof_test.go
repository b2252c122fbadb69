package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/report"
	"dormouse/jepsen/sim"
)

// A proof reads what a cover and the simulator wrote, also after the cover's directory was moved.
func TestAProofReadsCoversAndSimulatedRuns(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "cover", "kill-3-set")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(kept, report.ResultName), ran(check.OK, 10_000_000, 0, time.Second).Result)
	write(t, filepath.Join(dir, "cover", "cover.jsonl"), jepsen.CoverDone{Key: "kill/3/set/1", Dir: "elsewhere/kill-3-set", Verdict: check.OK})
	sound := sim.Document{Order: sim.Order{Seed: 7}, Verdict: check.OK, Simulated: time.Hour, Calls: 5, Steps: []sim.Step{{Fault: "kill", Variant: "leader"}}}
	bug := sim.Document{Order: sim.Order{Seed: 8, Bug: "no-fsync"}, Verdict: check.Violation}
	write(t, filepath.Join(dir, "sim.json"), simDocument{Runs: []sim.Document{sound, bug}})

	page := filepath.Join(dir, "proof.html")
	simulated := filepath.Join(dir, "sim.json")
	out, errs, code := newConsole(t).run("proof", "-o", "json", "--cover", filepath.Join(dir, "cover"), "--sim", simulated+","+simulated, "--page", page)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var d proofDocument
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if d.Verdict != check.OK || d.Runs != 1 || d.Judged != 10_000_000 || d.SimulatedRuns != 2 || d.SimulatedJudged != 10 || d.Simulated != 2*time.Hour || len(d.Bars) != 3 {
		t.Errorf("got %+v", d)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "kill/leader") {
		t.Errorf("%v: the page does not count the simulator's faults", err)
	}
}

func TestAProofNeedsRuns(t *testing.T) {
	c := newConsole(t)
	write(t, "x.json", "what")
	write(t, "empty.json", simDocument{})
	for line, want := range map[string]struct {
		text string
		code int
	}{
		"proof":                                  {"name the runs: --cover DIR, --sim FILE", exitUsage},
		"proof --cover .":                        {"is no directory of a cover: it has no cover.jsonl", exitUsage},
		"proof --sim y.json":                     {"no such file", exitUsage},
		"proof --sim x.json":                     {"x.json is not what sim -o json writes", exitUsage},
		"proof --sim empty.json --page no/there": {"write the report", exitFailed},
		"proof --sim empty.json --page page":     {"", exitUnknown},
	} {
		if _, errs, code := c.run(strings.Fields(line)...); code != want.code || !strings.Contains(errs, want.text) {
			t.Errorf("%s: exit %d, want %d: %q, no %q", line, code, want.code, errs, want.text)
		}
	}
}

func write(t *testing.T, path string, document any) {
	t.Helper()
	raw, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "%s\n", raw), 0o600); err != nil {
		t.Fatal(err)
	}
}
