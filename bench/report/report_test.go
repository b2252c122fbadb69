package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dormouse/bench/load"
	"dormouse/bench/report"
)

func TestTheMedianIsTheMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 100}, 3}} {
		given := append([]float64(nil), c.values...)
		if got := report.Median(c.values); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.values, got, c.want)
		}
		if diff := cmp.Diff(given, c.values); diff != "" {
			t.Errorf("it changed what it was given: %s", diff)
		}
	}
}

func cell(system, workload string, callers, round int, rate float64) report.Cell {
	return report.Cell{
		System: system, Round: round, Nodes: 3, ServerCPU: 1e6 / rate, ClientCPU: 5, Written: 2048,
		Result: load.Result{Workload: workload, Callers: callers, Ops: 1, Rate: rate, Latency: load.Latency{P50: 1, P99: 1e4 / rate}},
	}
}

// made is a comparison whose rounds went at very different speeds.
func made() *report.Document {
	d := &report.Document{Rounds: 3, Systems: []report.System{{Name: "dormouse", Commands: []string{"x"}}, {Name: "redis", Absent: "it is not installed"}}}
	for round, speed := range []float64{1, 0.1, 10} {
		d.Cells = append(d.Cells,
			cell("dormouse", "put-1k", 64, round+1, 50_000*speed), cell("etcd", "put-1k", 64, round+1, 10_000*speed),
			cell("dormouse", "put-1k", 256, round+1, 60_000*speed), cell("etcd", "put-1k", 256, round+1, 20_000*speed),
			cell("dormouse-http", "put-1k", 64, round+1, 20_000*speed), cell("etcd-http", "put-1k", 64, round+1, 5_000*speed))
	}
	d.Cells = append(d.Cells, cell("dormouse", "turn", 64, 1, 1)) // whose peer was not measured
	d.Trials = []report.Trial{
		{Name: report.TrialFailover, System: "dormouse", Round: 1, Value: 0.2, Unit: "s"},
		{Name: report.TrialFailover, System: "dormouse", Round: 2, Value: 9, Unit: "s"},
		{Name: report.TrialFailover, System: "dormouse", Round: 3, Value: 0.25, Unit: "s"},
		{Name: report.TrialFailover, System: "etcd", Round: 1, Value: 100, Unit: "s"},
	}
	return d
}

func TestBarsAreJudgedByTheMedianOfTheRoundsRatios(t *testing.T) {
	verdicts := map[string]report.Verdict{}
	for _, v := range report.Judge(made()) {
		if _, twice := verdicts[v.Claim]; twice {
			t.Errorf("two bars are called %q", v.Claim)
		}
		verdicts[v.Claim] = v
	}
	for claim, want := range map[string]struct {
		value   float64
		rounds  int
		outcome string
	}{
		"throughput, put-1k at 64 callers, against etcd":                       {5, 3, report.Pass},
		"throughput, put-1k at 256 callers, against etcd":                      {3, 3, report.Fail},
		"p99 latency, put-1k at 64 callers, against etcd":                      {0.2, 3, report.Pass},
		"throughput of dormouse-http, put-1k at 64 callers, against etcd-http": {4, 3, report.Pass},
		"throughput, turn at 64 callers, against etcd":                         {0, 0, report.Unmeasured},
		"throughput, put-1k at 256 callers, against postgres":                  {0, 0, report.Unmeasured},
		"silence after the leader was killed, default settings":                {0.25, 3, report.Pass},
		"memory of a node at 1,000,000 agents of 1 KiB":                        {0, 0, report.Unmeasured},
		"append at entry 100,000 of a thread, against entry 100":               {0, 0, report.Unmeasured},
	} {
		got, ok := verdicts[claim]
		if !ok || got.Value < want.value*0.999 || got.Value > want.value*1.001 || got.Rounds != want.rounds || got.Outcome != want.outcome {
			t.Errorf("%s: %+v, want %+v", claim, got, want)
		}
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	d := made()
	if err := report.Write(d, dir); err != nil {
		t.Fatal(err)
	}
	got, err := report.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, got); diff != "" {
		t.Errorf("what was read differs: %s", diff)
	}
	raw, err := os.ReadFile(filepath.Join(dir, report.TableName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| throughput, put-1k at 64 callers, against etcd | ≥ 3.00 × | 5.00 × | 3 | pass |",
		"| put-1k | 64 | etcd | 10.0 k |", "redis: skipped, it is not installed", "](put-1k-throughput.svg)",
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the tables lack %q:\n%s", want, raw)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, "put-1k-latency-p99.svg"))
	if err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("no plot: %v, %.40s", err, svg)
	}
	for file, wants := range map[string][]string{
		"put-1k-latency-throughput.svg": {">dormouse<", ">etcd<", ">64<", ">256<"},
		"failover.svg":                  {">leader killed, dormouse<", ">0.25<", ">leader killed, etcd<", ">100.00<"},
	} {
		svg, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(svg), want) {
				t.Errorf("%s lacks %q", file, want)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "growth.svg")); err == nil {
		t.Error("a trial that was not made has a plot")
	}
	if _, err := os.Stat(filepath.Join(dir, "turn-throughput.svg")); err == nil {
		t.Error("one number of callers makes a plot")
	}
}

func TestThePictureShowsMultiplesOfEtcd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "picture.svg")
	if err := report.Picture(made(), 64, file); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">5.0<", ">1.0<", ">put-1k<", ">dormouse<", ">etcd<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if strings.Contains(string(svg), ">postgres<") {
		t.Error("the picture shows a system that was not measured")
	}
	if err := report.Picture(made(), 1, file); err == nil || !strings.Contains(err.Error(), "1 callers") {
		t.Errorf("a comparison without etcd: %v", err)
	}
}
