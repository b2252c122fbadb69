package sim_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/sim"
)

func TestOne(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	long, _ := time.ParseDuration(os.Getenv("TIME"))
	var lines bytes.Buffer
	o := sim.Options{Seed: seed, Time: long, Tell: func(s string) {
		if os.Getenv("V") != "" {
			t.Log(s)
		}
	}}
	if w := os.Getenv("W"); w != "" {
		o.Workloads = strings.Split(w, ",")
	}
	if w := os.Getenv("N"); w != "" {
		o.Nemeses = strings.Split(w, ",")
	}
	if d, _ := time.ParseDuration(os.Getenv("PACE")); d > 0 {
		o.Pace = d
	}
	if os.Getenv("LINES") != "" {
		o.Lines = &lines
	}
	if p := os.Getenv("LIVE"); p != "" {
		f, _ := os.Create(p)
		o.Lines = f
	}
	r, err := sim.Run(t, o)
	if p := os.Getenv("LINES"); p != "" {
		_ = os.WriteFile(p, lines.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d sum %016x notes %d seeded %v simulated %v took %v (%.0fx) judging %v verdict %v ops %d counts %v", seed, r.Sum, r.Notes, r.Seeded, r.Simulated, r.Took, r.Simulated.Seconds()/r.Took.Seconds(), r.Judging, r.Run.Verdict, r.Run.Judged(), r.Counts)
	for _, one := range r.Run.Results {
		t.Logf("%s: %s %s %v", one.Check, one.Verdict, one.Why, one.Counts)
		for _, f := range one.Findings {
			t.Logf("   %s %s: %s", f.Rule, f.Key, f.Detail)
		}
	}
}
