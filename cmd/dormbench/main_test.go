package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/internal/cli"
)

// call runs the program with args.
func call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = (&app{stdout: &stdout, stderr: &stderr}).main(t.Context(), args)
	return code, stdout.String(), stderr.String()
}

func TestWrongUsageIsRefusedAndSaysWhy(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"rnu", `did you mean run`},
		{"list -o xml", "use table or json"},
		{"list x", "takes no arguments"},
		{"run --system oracle", "use one of dormouse"},
		{"run --workload x", "see dormbench list"},
		{"run --callers 0", "use 1 to 1024"},
		{"run --callers 1025", "use 1 to 1024"},
		{"run --duration 0s", "--duration must be positive"},
		{"run --warmup -1s", "--warmup may not be negative"},
		{"run --agents -1", "may not be negative"},
		{"run --stored", "--prefix"},
		{"run --pids 1", "--endpoints"},
		{"run --system etcd --server-profiles x", "a dormouse that run starts"},
		{"run --endpoints 127.0.0.1:1 --server-profiles x", "a dormouse that run starts"},
		{"run --nonsense", "has no flag --nonsense"},
		{"peers --systems dormouse,oracle", `"oracle"`},
		{"peers --workloads put-1k,x", `"x"`},
		{"peers --callers 1,2000", "2000"},
		{"peers --connections redis=0", "redis=0"},
		{"peers --systems dormouse --connections redis=4", "--systems"},
		{"peers --connections redis", "redis"},
		{"peers --rounds 0", "--rounds"},
		{"peers --trials x", "unknown trial"},
		{"peers --agents 1", "--agents must be at least"},
		{"trial", "takes NAME"},
		{"trial x", "unknown trial"},
		{"trial failover --duration 0s", "--duration must be positive"},
		{"trial growth --growth-for 0s", "the other sizes positive"},
		{"trial catch-up --catch-up-entries -1", "may not be negative"},
		{"trial catch-up --catch-up-mib 0 --catch-up-entries 0", "nor both 0"},
		{"parts", "takes the FILE"},
		{"parts --rate -1 n1.pprof", "--rate may not be negative"},
		{"report --results /nowhere/at/all", "read the results"},
	} {
		code, _, errs := call(t, strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit code %d, want %d; it says %q, want %q", c.args, code, exitUsage, errs, c.says)
		}
	}
}

func TestExitCodesTellWhatWentWrong(t *testing.T) {
	for code, err := range map[int]error{
		exitOK:          nil,
		exitFailed:      context.Canceled,
		exitUsage:       cli.Usagef("x"),
		exitNotFound:    agent.Errorf(agent.CodeNotFound, "x"),
		exitConflict:    agent.Errorf(agent.CodeConflict, "x"),
		exitUnavailable: fmt.Errorf("start: %w", &system.AbsentError{System: "redis", Why: "x"}),
		exitUnknown:     agent.Errorf(agent.CodeUnknown, "x"),
	} {
		if got := exitCode(err); got != code {
			t.Errorf("%v ends with %d, want %d", err, got, code)
		}
	}
}

func TestASystemThatIsNotHereIsUnavailable(t *testing.T) {
	code, _, errs := call(t, "run", "--bin", t.TempDir(), "--dir", t.TempDir())
	if code != exitUnavailable || !strings.Contains(errs, "run make build") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestAllThereIsIsListed(t *testing.T) {
	code, out, _ := call(t, "list", "-o", "json")
	var items []struct{ Kind, Name, What string }
	if err := json.Unmarshal([]byte(out), &items); err != nil || code != exitOK {
		t.Fatalf("exit code %d: %v", code, err)
	}
	for _, i := range items {
		if i.What == "" {
			t.Errorf("nothing says what %s %s is", i.Kind, i.Name)
		}
	}
	if len(items) < 18 {
		t.Errorf("%d things are listed", len(items))
	}
}

func TestAReportIsShownAgainAndMayBeStrict(t *testing.T) {
	dir := t.TempDir()
	if err := report.Write(&report.Document{Rounds: 1}, dir); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := call(t, "report", "--results", dir); code != exitOK || !strings.Contains(out, report.Unmeasured) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, _, _ := call(t, "report", "--results", dir, "--strict"); code != exitFailed {
		t.Errorf("a strict report without measurements ends with %d", code)
	}
}

func TestSilenceIsTheLongestTimeWithoutAnAnswerFromTheKillOn(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(1_000_000 + int64(ms)) }
	var s silence
	s.answered(at(0)) // long before the kill, so it does not count
	s.begins(at(5000))
	for _, ms := range []int{5010, 7310, 7300, 7400} { // answers may come slightly out of order
		s.answered(at(ms))
	}
	s.ends(at(8000))
	s.answered(at(20_000))
	if s.longest != 2300*time.Millisecond {
		t.Errorf("it is %v", s.longest)
	}
	var never silence
	never.begins(at(0))
	never.ends(at(9000))
	if never.longest != 9*time.Second {
		t.Errorf("without any answer it is %v", never.longest)
	}
}
