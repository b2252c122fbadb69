package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/report"
)

// console runs dormjepsen with made-up runs.
type console struct {
	t        *testing.T
	terminal bool
	made     []jepsen.Options
	verdict  check.Verdict // verdict of every run
	fails    error         // error of every run
	stops    bool          // the run is interrupted
	needs    bool          // a cover needs further runs
	stop     context.CancelFunc
}

func newConsole(t *testing.T) *console {
	t.Helper()
	t.Chdir(t.TempDir())
	return &console{t: t, verdict: check.OK}
}

func (c *console) run(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	a := &app{stdout: &out, stderr: &errs, terminal: c.terminal, run: c.make, runCover: c.cover}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	c.stop = cancel
	code = a.main(ctx, args)
	return out.String(), errs.String(), code
}

// make replaces jepsen.Run and writes the files of a run.
func (c *console) make(_ context.Context, o jepsen.Options) (*report.Run, error) {
	c.made = append(c.made, o)
	if c.stops {
		c.stop()
	}
	if c.fails != nil {
		return nil, c.fails
	}
	o.Progress("  1.0s something happened")
	if err := os.MkdirAll(filepath.Join(o.Dir, "nodes", "n1"), 0o750); err != nil {
		c.t.Fatal(err)
	}
	r, err := history.Create(filepath.Join(o.Dir, report.HistoryName), history.Header{Workloads: o.Workloads, Nemeses: o.Nemeses, Seed: o.Seed, Nodes: o.Nodes, Time: o.Time})
	if err != nil {
		c.t.Fatal(err)
	}
	r.Return(r.Invoke(history.Op{Workload: o.Workloads[0], Call: "put", Key: "k"}), nil)
	if err := r.Close(); err != nil {
		c.t.Fatal(err)
	}
	h, err := history.Read(filepath.Join(o.Dir, report.HistoryName))
	if err != nil {
		c.t.Fatal(err)
	}
	result := check.Result{Check: o.Workloads[0], Verdict: c.verdict, Ops: 7}
	if c.verdict == check.Violation {
		result.Findings = []check.Finding{{Rule: "lost put", Detail: "it is gone"}}
	}
	return &report.Run{Header: h.Header, History: h, Dir: o.Dir, Verdict: c.verdict, Results: []check.Result{result}, Interrupted: c.stops}, nil
}

// cover replaces jepsen.RunCover and makes the first two runs.
func (c *console) cover(ctx context.Context, o jepsen.CoverOptions) (ended []jepsen.CoverDone, err error) {
	for _, r := range jepsen.Cover(o.Seed, o.Workloads, o.Nemeses, o.Sizes)[:2] {
		options := r.Options(o.Time)
		options.Dir, options.Progress = filepath.Join(o.Dir, strings.ReplaceAll(r.Key(), "/", "-")), o.Progress
		run, err := c.make(ctx, options)
		if err != nil {
			c.t.Fatal(err)
		}
		done := jepsen.CoverDone{Key: r.Key(), Dir: options.Dir, Verdict: run.Verdict}
		if err := o.Ended(done, run); err != nil {
			c.t.Fatal(err)
		}
		ended = append(ended, done)
	}
	if o.Needs != nil {
		c.needs = o.Needs(ended, jepsen.CoverRun{})
	}
	<-ctx.Done()
	return ended, context.Cause(ctx)
}

func TestAWrongCommandLineSaysWhatIsRight(t *testing.T) {
	for line, want := range map[string]string{
		"rn":                                  `there is no command "rn"; did you mean run`,
		"run extra":                           "takes no arguments",
		"run --wrokload x":                    "did you mean --workload?",
		"run --workload turn,nonesuch":        `--workload: unknown workload "nonesuch": use one of `,
		"run --workload ,":                    "--workload names nothing: give some of ",
		"run --nemesis kil":                   `--nemesis: unknown nemesis "kil": use one of none, kill, `,
		"run --time 0s":                       "--time is 0s: use a positive duration",
		"run --nodes 9":                       "--nodes is 9: use 1 to 7",
		"run --processes -1":                  "--processes is -1",
		"run --network wifi":                  `--network is "wifi": use auto or loopback`,
		"run --seed x":                        `--seed is "x": use a whole number, 0 or more`,
		"run -o yaml":                         `--output is "yaml": use table or json`,
		"run --hook-heal x":                   "give its --endpoints",
		"run --endpoints a:1 --hook-heal x":   "go together",
		"run --endpoints a:1 --binary b":      "--binary is not possible with --endpoints",
		"run --endpoints a:1 --nemesis kill":  "--nemesis is not possible with --endpoints",
		"run --endpoints ,":                   "--endpoints names no address",
		"check":                               "takes FILE, but got no arguments",
		"check nowhere":                       "there is no history to read",
		"check .":                             "holds no run",
		"edn a b":                             "takes FILE, but got",
		"smoke --time -1s":                    "--time is -1s",
		"selftest nonesuch":                   `unknown seeded bug "nonesuch": use one of `,
		"full --budget 0s":                    "durations above 0",
		"full --calls -1":                     "--calls is a number of calls, or 0",
		"full --workload nonesuch --time 60s": `unknown workload "nonesuch"`,
	} {
		c := newConsole(t)
		out, errs, code := c.run(strings.Fields(line)...)
		if code != exitUsage || !strings.Contains(errs, want) || !strings.Contains(errs, "see --help") || out != "" {
			t.Errorf("%s: exit %d, %q, no %q", line, code, errs, want)
		}
		if c.made != nil {
			t.Errorf("%s: a run was made", line)
		}
	}
}

func TestTheExitCodeIsTheVerdict(t *testing.T) {
	for _, test := range []struct {
		verdict check.Verdict
		stops   bool
		fails   error
		want    int
	}{
		{verdict: check.OK, want: exitOK},
		{verdict: check.Violation, want: exitViolation},
		{verdict: check.Unknown, want: exitUnknown},
		{fails: errors.New("no room"), want: exitFailed},
		{fails: errors.New("no room for the interrupted"), stops: true, want: exitInterrupted},
		{verdict: check.Unknown, stops: true, want: exitInterrupted},
		{verdict: check.OK, stops: true, want: exitInterrupted},
		{verdict: check.Violation, stops: true, want: exitViolation},
	} {
		for _, command := range []string{"run", "smoke"} {
			c := newConsole(t)
			c.verdict, c.stops, c.fails = test.verdict, test.stops, test.fails
			out, errs, code := c.run(command)
			if code != test.want {
				t.Errorf("%s with %+v: exit %d\n%s%s", command, test, code, out, errs)
			}
			if test.fails != nil && !strings.Contains(errs, "no room") {
				t.Errorf("%s does not say why it failed: %s", command, errs)
			}
		}
	}
}

func TestARunIsMadeAsTheCommandLineSays(t *testing.T) {
	c := newConsole(t)
	out, errs, code := c.run("run", "--workload", "turn, turn,register", "--nemesis", "all", "--time", "5s", "--seed", "0", "--nodes", "5", "--processes", "3",
		"--dir", "d", "--binary", "b", "--network", "loopback", "--bug", "no-fsync")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	o := c.made[0]
	if strings.Join(o.Workloads, ",") != "turn,register" || len(o.Nemeses) != len(nemesis.Names())-1 || o.Nemeses[0] == "none" || o.Time != 5*time.Second || o.Seed != 0 ||
		o.Nodes != 5 || o.Processes != 3 || o.Dir != "d" || o.Binary != "b" || !o.Loopback || o.Bug != "no-fsync" || o.Target != nil {
		t.Errorf("made %+v", o)
	}
	if !strings.Contains(out, "OK  turn, register under") || !strings.Contains(errs, "  1.0s something happened\n") {
		t.Errorf("it says %s%s", out, errs)
	}
	for name, kept := range map[string]bool{report.PageName: true, report.ResultName: true, report.HistoryName: true, "nodes": false} {
		if _, err := os.Stat(filepath.Join("d", name)); (err == nil) != kept {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARunOnAClusterThatStands(t *testing.T) {
	c := newConsole(t)
	if _, errs, code := c.run("run", "--endpoints", "a:1, b:2", "--hook-fault", "harm", "--hook-heal", "heal"); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	target := c.made[0].Target
	if target == nil || strings.Join(target.Endpoints, "|") != "a:1|b:2" || target.HookFault != "harm" || target.HookHeal != "heal" {
		t.Errorf("target %+v", target)
	}
}

func TestSeedsAreMadeUpAndDirectoriesToo(t *testing.T) {
	c := newConsole(t)
	c.run("run")
	c.run("run")
	if a, b := c.made[0], c.made[1]; a.Seed == b.Seed || a.Dir == b.Dir || !strings.HasPrefix(a.Dir, runsDir) {
		t.Errorf("seeds %d and %d, directories %s and %s", a.Seed, b.Seed, a.Dir, b.Dir)
	}
}

func TestWhatFailedKeepsWhatItsNodesKept(t *testing.T) {
	c := newConsole(t)
	c.verdict = check.Violation
	out, _, _ := c.run("run", "--dir", "d", "-o", "json")
	if _, err := os.Stat("d/nodes/n1"); err != nil {
		t.Error(err)
	}
	var d report.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Verdict != check.Violation || d.Results[0].Findings[0].Rule != "lost put" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAHistoryIsExportedAndJudgedAgain(t *testing.T) {
	c := newConsole(t)
	c.run("run", "--workload", "register", "--dir", "d")
	out, errs, code := c.run("edn", "d")
	if code != exitOK || !strings.Contains(out, ":type :invoke") || !strings.Contains(out, ":type :ok") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, errs, code := c.run("edn", "d", "--to", "d/out.edn"); code != exitOK {
		t.Errorf("exit %d: %s", code, errs)
	}
	if out, errs, code := c.run("edn", "d", "--list-append"); code != exitFailed || !strings.Contains(errs, "append workload was not in the run") || out != "" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	out, errs, code = c.run("check", filepath.Join("d", report.HistoryName), "--page", "again.html")
	if code != exitUnknown || !strings.Contains(out, "register") { // there is hardly anything to judge
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat("again.html"); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile("bad.jsonl", []byte("no history\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := c.run("check", "bad.jsonl"); code != exitFailed || !strings.Contains(errs, "bad.jsonl") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestACoverWhoseBudgetIsSpentSaysWhatIsLeft(t *testing.T) {
	c := newConsole(t)
	out, errs, code := c.run("full", "--dir", "d", "--budget", "1ms", "--workload", "register", "--nemesis", "kill")
	if code != exitUnknown || !strings.Contains(out, "unknown: 2 of 4 runs, 14 calls judged") || !strings.Contains(errs, "remaining 2 runs") ||
		!strings.Contains(out, "| 2 of 4 | 14 | 0 | 0 | - | 0 |") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	packed, _ := filepath.Glob(filepath.Join("d", "*", report.HistoryName+packedSuffix))
	if len(packed) != 2 {
		t.Errorf("packed histories: %v", packed)
	}
	if _, errs, code := c.run("edn", filepath.Dir(packed[0])); code != exitOK {
		t.Errorf("a packed history is not read: exit %d: %s", code, errs)
	}
}

func TestACoverGoesOnUntilItsCallsAreJudged(t *testing.T) {
	c := newConsole(t)
	for _, calls := range []int{14, 15} {
		out, errs, code := c.run("full", "--dir", fmt.Sprint(calls), "--budget", "1ms", "--workload", "register", "--nemesis", "kill", "--calls", fmt.Sprint(calls))
		if code != exitUnknown || c.needs != (calls > 14) || !strings.Contains(out, fmt.Sprintf("≥ %d ", calls)) {
			t.Errorf("with %d calls it needs further runs: %v, exit %d: %s%s", calls, c.needs, code, out, errs)
		}
	}
}

func TestTheListNamesEverything(t *testing.T) {
	c := newConsole(t)
	out, errs, code := c.run("list")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"WORKLOAD", "register", "turn", "NEMESIS", "none", "partition", "overload"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

func TestTheVersionIsShown(t *testing.T) {
	c := newConsole(t)
	if out, _, code := c.run("version"); code != exitOK || !strings.HasPrefix(out, "dormjepsen   ") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, _, _ := c.run("--help"); !strings.Contains(out, exitTable) {
		t.Errorf("no exit codes in %s", out)
	}
}
