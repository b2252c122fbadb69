package sim_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/sim"
)

// A test's program has no overlay, so this run does not repeat itself. "make simulate" makes
// those that do.
func TestARunWithoutTheOverlayIsJudgedSim(t *testing.T) {
	var lines bytes.Buffer
	r, err := sim.Run(t, sim.Options{Seed: 1, Time: 20 * time.Second, Workloads: []string{"register", "append", "cells"}, Nemeses: []string{"kill", "partition"}, Lines: &lines})
	if err != nil {
		t.Fatal(err)
	}
	if r.Run.Verdict != check.OK || r.Run.Judged() < 100 {
		t.Errorf("%d calls, verdict %s: %v", r.Run.Judged(), r.Run.Verdict, r.Run.Results)
	}
	if len(r.Steps) == 0 || r.Counts["faults"] != int64(len(r.Steps)) || r.Counts["kills"] == 0 {
		t.Errorf("%d faults were planned, and the run met %v", len(r.Steps), r.Counts)
	}
	if r.Simulated < 20*time.Second || r.Notes != uint64(bytes.Count(lines.Bytes(), []byte("\n"))) {
		t.Errorf("%v were simulated, with %d notes", r.Simulated, r.Notes)
	}
	if !strings.Contains(lines.String(), " fault ") || !strings.Contains(lines.String(), " message clients>n1 ") {
		t.Error("the trace lacks faults or messages")
	}
	if all, overHTTP := calls(r.File, "register", "http"); overHTTP*4 < all || overHTTP*4 > all*3 {
		t.Errorf("%d of %d calls on registers were made over HTTP", overHTTP, all)
	}
	if all, overRedis := calls(r.File, "cells", "redis"); overRedis*8 < all || overRedis*2 > all || !strings.Contains(lines.String(), ":redis ") {
		t.Errorf("%d of %d calls on cells were made over the protocol of Redis", overRedis, all)
	}
}

// calls returns how many calls of a workload a history has, and how many of them were made by a protocol.
func calls(file []byte, workload, via string) (all, by int) {
	for line := range bytes.Lines(file) {
		if bytes.Contains(line, []byte(`"workload":"`+workload+`"`)) && bytes.Contains(line, []byte(`"invoke":{`)) {
			all++
			by += bytes.Count(line, []byte(`"via":"`+via+`"`))
		}
	}
	return all, by
}

func TestThePlanFollowsFromTheSeed(t *testing.T) {
	o, err := sim.Options{Seed: 5, Time: 5 * time.Minute}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sim.DrawPlan(o)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sim.DrawPlan(o); err != nil || !reflect.DeepEqual(plan, again) {
		t.Errorf("the same options give another plan: %v", err)
	}
	other := o
	other.Seed = 6
	if again, err := sim.DrawPlan(other); err != nil || reflect.DeepEqual(plan.Steps, again.Steps) {
		t.Errorf("another seed gives the same plan: %v", err)
	}
	// A shorter run has the same faults, as far as it goes, with the same numbers.
	shorter := o
	shorter.Time /= 2
	half, err := sim.DrawPlan(shorter)
	if err != nil || len(half.Steps) == 0 || len(half.Steps) >= len(plan.Steps) {
		t.Fatalf("half the time has %d of %d faults, %v", len(half.Steps), len(plan.Steps), err)
	}
	for _, s := range half.Steps {
		if !slices.Contains(plan.Steps, s) {
			t.Errorf("%v is not in the longer run", s)
		}
	}
	skipping := o
	skipping.Skip = []int{plan.Steps[0].N}
	if left, err := sim.DrawPlan(skipping); err != nil || !slices.Equal(left.Steps, plan.Steps[1:]) {
		t.Errorf("without fault %d: %v", plan.Steps[0].N, err)
	}
}

func TestAVariantHasAWordForTheCommandLine(t *testing.T) {
	o, err := sim.Options{Nemeses: []string{"membership/demote-then-promote", "disk/the-leaders-hangs"}, Time: 5 * time.Minute}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sim.DrawPlan(o)
	if err != nil || len(plan.Steps) == 0 {
		t.Fatalf("%d faults, %v", len(plan.Steps), err)
	}
	for _, s := range plan.Steps {
		if s.Variant != "demote, then promote" && s.Variant != "the leader's hangs" {
			t.Errorf("%v was drawn", s)
		}
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, o := range []sim.Options{
		{Workloads: []string{"none-such"}},
		{Workloads: []string{"host"}},
		{Nemeses: []string{"flood"}},
		{Nemeses: []string{"kill/nothing"}},
		{Nodes: 8},
		{Nodes: -1},
		{Time: -1},
		{Processes: -1},
		{Pace: -1},
	} {
		if _, err := o.Resolve(); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestARunThatNeedsTooMuchMemoryEnds(t *testing.T) {
	const most = 256 << 20
	if os.Getenv("DORMJEPSEN_GROWS") != "" { // this is the other process
		var all [][]byte
		for {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
			time.Sleep(time.Duration(len(all)/(2*most>>20)) * time.Millisecond)
		}
	}
	grows := exec.Command(os.Args[0], "-test.run", t.Name())
	grows.Env = append(os.Environ(), "DORMJEPSEN_GROWS=1")
	if over, err := sim.RunWithin(grows, most); !over || err == nil {
		t.Errorf("over: %v, %v", over, err)
	}
	if over, err := sim.RunWithin(exec.Command("go", "version"), most); over || err != nil {
		t.Errorf("over: %v, %v", over, err)
	}
}

// The made-up run fails if it has faults 3 and 11, workload append, at least 20 s and two
// processes.
func TestAFailureIsShrunk(t *testing.T) {
	all := make([]sim.Step, 16)
	for i := range all {
		all[i].N = i + 1
	}
	run := func(_ context.Context, o sim.Order) (sim.Document, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(s sim.Step) bool { return slices.Contains(o.Skip, s.N) })
		has := func(n int) bool { return slices.ContainsFunc(left, func(s sim.Step) bool { return s.N == n }) }
		d := sim.Document{Order: o, Steps: left, Results: []check.Result{{Check: "append", Verdict: check.OK}, {Check: "liveness", Verdict: check.Violation}}}
		if has(3) && has(11) && slices.Contains(o.Workloads, "append") && o.Time >= 20*time.Second && (o.Processes == 0 || o.Processes >= 2) {
			d.Results[0].Verdict, d.Results[1].Verdict = check.Violation, check.OK
		}
		return d, nil
	}
	first, err := run(t.Context(), sim.Order{Seed: 1, Time: 2 * time.Minute, Workloads: []string{"register", "append", "set"}})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	small, err := sim.ShrinkWith(t.Context(), run, first, func(string) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	o := small.Order
	if !slices.Equal(o.Workloads, []string{"append"}) || o.Time != 30*time.Second || o.Processes != 2 || told == 0 {
		t.Errorf("it was shrunk to %+v", o)
	}
	if len(small.Steps) != 2 || small.Steps[0].N != 3 || small.Steps[1].N != 11 {
		t.Errorf("these faults are left: %v", small.Steps)
	}
	if !slices.Equal(small.Failed(), []string{"append"}) {
		t.Errorf("it fails in %v", small.Failed())
	}
}

func TestFailuresAreKept(t *testing.T) {
	dir := t.TempDir()
	d := sim.Document{Order: sim.Order{Seed: 9, Time: time.Minute, Workloads: []string{"set"}, Skip: []int{10001}, Trace: "lines"}, Results: []check.Result{
		{Check: "set", Verdict: check.Violation, Findings: []check.Finding{{Rule: "lost", Detail: "7 is gone"}}},
	}}
	if _, err := sim.Keep(dir, d); err != nil {
		t.Fatal(err)
	}
	kept, err := sim.ReadKept(dir)
	want := d.Order
	want.Trace = ""
	if err != nil || len(kept) != 1 || !reflect.DeepEqual(kept[0].Order, want) || kept[0].About != "set: lost: 7 is gone" {
		t.Errorf("%+v, %v", kept, err)
	}
	if _, err := sim.ReadKept(t.TempDir()); err == nil {
		t.Error("an empty directory was accepted")
	}
	if _, err := sim.ReadKept("testdata/seeds"); err != nil {
		t.Error(err)
	}
}

func TestAKeptRunWithABugIsMadeWithoutItToo(t *testing.T) {
	sound, buggy := sim.Order{Seed: 9, Nodes: 3}, sim.Order{Seed: 9, Nodes: 3, Bug: "map-order"}
	if got := (sim.Kept{Order: sound}).Orders(); !reflect.DeepEqual(got, [][]sim.Order{{sound}}) {
		t.Errorf("a sound run: %+v", got)
	}
	if got := (sim.Kept{Order: buggy}).Orders(); !reflect.DeepEqual(got, [][]sim.Order{{buggy}, {sound}}) {
		t.Errorf("a run with a bug: %+v", got)
	}
	next := buggy
	next.Seed++
	if got := (sim.Kept{Order: buggy, Seeds: 2}).Orders(); !reflect.DeepEqual(got, [][]sim.Order{{buggy, next}, {sound}}) {
		t.Errorf("a run with a bug that two seeds may find: %+v", got)
	}
}

func TestTheCommandRepeatsTheRun(t *testing.T) {
	o := sim.Order{Seed: 3, Time: 90 * time.Second, Workloads: []string{"set", "turn"}, Nemeses: []string{"kill/again and again"}, Nodes: 5, Skip: []int{10001, 10002}, Bug: "map-order"}
	want := `dormjepsen sim --seed 3 --time 1m30s --workload set,turn --nemesis "kill/again and again" --nodes 5 --skip 10001,10002 --bug map-order`
	if got := o.Command(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
