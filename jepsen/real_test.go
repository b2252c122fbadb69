package jepsen_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
)

// TestARealRun runs real nodes. It is for developers of the harness:
//
//	DORMJEPSEN_REAL=1 DORMJEPSEN_NEMESES=kill,pause DORMJEPSEN_SEED=7 go test -run TestARealRun -v ./jepsen
//
// It also reads WORKLOADS, NODES, TIME, DIR, BINARY and ENDPOINTS with the same
// prefix.
func TestARealRun(t *testing.T) {
	if os.Getenv("DORMJEPSEN_REAL") == "" {
		t.Skip("set DORMJEPSEN_REAL to run real nodes for a minute")
	}
	o := jepsen.Options{
		Workloads: listed("WORKLOADS"), Nemeses: listed("NEMESES"), Seed: uint64(number(t, "SEED", 1)), Nodes: number(t, "NODES", 3),
		Time: time.Duration(number(t, "TIME", 20)) * time.Second, Dir: filepath.Join(t.TempDir(), "run"), Binary: os.Getenv("DORMJEPSEN_BINARY"),
		Progress: func(line string) { t.Log(line) },
	}
	if addrs := listed("ENDPOINTS"); addrs != nil {
		o.Target = &jepsen.Target{Endpoints: addrs, HookFault: os.Getenv("DORMJEPSEN_HOOK_FAULT"), HookHeal: os.Getenv("DORMJEPSEN_HOOK_HEAL")}
	}
	if dir := os.Getenv("DORMJEPSEN_DIR"); dir != "" {
		o.Dir = dir
	}
	ctx, cancel := context.WithTimeout(t.Context(), o.Time+5*time.Minute)
	defer cancel()
	run, err := jepsen.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(run.Header.Command)
	for _, line := range run.Missing {
		t.Log("missing: " + line)
	}
	for _, r := range run.Results {
		t.Logf("%-12s %-9s %6d calls in %v %v %s", r.Check, r.Verdict, r.Ops, r.Took.Round(time.Millisecond), r.Counts, r.Why)
		for _, f := range r.Findings {
			t.Logf("  %s %s: %s", f.Rule, f.Key, f.Detail)
		}
	}
	for _, r := range check.Recoveries(run.History) {
		t.Logf("%d. %s, %s: after the fault %v, after the healing %v", r.Step, r.Name, r.Detail, r.AfterFault, r.AfterHeal)
	}
	if run.Verdict != check.OK {
		t.Errorf("the run is %s", run.Verdict)
	}
}

func listed(name string) []string {
	if list := os.Getenv("DORMJEPSEN_" + name); list != "" {
		return strings.Split(list, ",")
	}
	return nil
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv("DORMJEPSEN_" + name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
