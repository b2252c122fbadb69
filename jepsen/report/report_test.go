package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/report"
)

var look = flag.String("look", "", "write the page of a made-up run that failed to this file")

func page(t *testing.T, run *report.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Page(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q", want)
		}
	}
}

func TestThePageNeedsNothingBesideItself(t *testing.T) {
	text := page(t, failed(made(3000), 4096))
	if *look != "" {
		if err := os.WriteFile(*look, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"src=", "href=", "url(", "@import", "#01FE", "#01fe", "<b>7</b>", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	contains(t, text, "var(--plot-fault)", "var(--series-1)", "<svg role=\"img\"")
}

func TestThePageTellsWhatWasFound(t *testing.T) {
	text := page(t, failed(made(30000), 4096))
	contains(t, text,
		`<span class="verdict violation">VIOLATION</span> register, append under kill, partition, 3 nodes`,
		"--workload register,append --nemesis kill,partition", "seed 42",
		"lost append", "entry 17 was acknowledged and is not in the thread", "{&#34;value&#34;:&#34;&lt;b&gt;7&lt;/b&gt;&#34;}",
		`<td class="when">append 4502</td>`, "fault 1 begins: kill, kill -9 of n1", "n1 ends: killed", "n2 leads, in term 3", "and 100 more calls, in the history",
		"no /dev/net/tun: partitions are left out", "kill/leader", "partition/leader-only", "data-picture=",
	)
}

func TestThePageDrawsCallsTermsAndSnapshots(t *testing.T) {
	run := made(3000)
	text := page(t, run)
	unanswered := 0
	for _, op := range run.History.Ops {
		if op.Return == history.Never {
			unanswered++
		}
	}
	contains(t, text,
		fmt.Sprintf("%d calls without an answer are at the upper edge", unanswered), fmt.Sprintf("%d unknown</span>", unanswered),
		"var(--unknown)", "var(--refused)", "var(--plot-follower)", "1 kill", "2 partition", "snapshot installed", "<strong>Behind</strong>",
	)
	for _, term := range []string{">2</text>", ">3</text>", ">5</text>"} {
		if strings.Count(text, term) < 2 {
			t.Errorf("fewer than two bars have the term %s", term)
		}
	}
	if page(t, made(3000)) != text {
		t.Error("the same run has another page")
	}
	for i, e := range run.History.Events { // the same without samples
		if e.Kind == history.EventSample {
			run.History.Events[i].Data = nil
		}
	}
	if text := page(t, run); strings.Contains(text, "snapshot installed") || strings.Contains(text, "<strong>Behind</strong>") || !strings.Contains(text, "<strong>Nodes</strong>") {
		t.Error("a run without samples has figures of them, or none of its leaders")
	}
}

func TestThePageOfManyCallsStaysSmall(t *testing.T) {
	run := failed(made(100_000), 3<<20)
	for range 10 {
		run.Results[1].Findings = append(run.Results[1].Findings, run.Results[1].Findings[0])
	}
	text := page(t, run)
	t.Logf("%d bytes", len(text))
	if len(text) > 3<<20 {
		t.Errorf("the page has %d bytes, at most %d", len(text), 3<<20)
	}
}

func TestAnEmptyHistoryIsReportedToo(t *testing.T) {
	run := &report.Run{Verdict: check.Unknown, Interrupted: true, History: &history.History{Cut: true}}
	contains(t, page(t, run), "UNKNOWN (interrupted)", "was interrupted", "ends in the middle")
	var b bytes.Buffer
	if err := report.Text(&b, run); err != nil {
		t.Fatal(err)
	}
	contains(t, b.String(), "UNKNOWN (interrupted)")
}

func TestTheTextIsATableForPeople(t *testing.T) {
	run := failed(made(3000), 10)
	run.Dir = "runs/1"
	run.Results[1].Findings[0].Detail += "\x1b[2J" + strings.Repeat(" and so on", 10)
	run.Results[1].Why = "this stands on a line of its own"
	var b bytes.Buffer
	if err := report.Text(&b, run); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	contains(t, b.String(),
		"VIOLATION  register, append under kill, partition, 3 nodes\n",
		"seed 42 · 1m0s · 3,000 calls · started 2026-11-21 12:00:00 UTC · took 1m5s · dormoused v0.1\n",
		"CHECK      VERDICT     JUDGED   TOOK    NOTES\n", "   this stands on a line of its own\n", "   lost append (k1): entry 17",
		"recovery   2 faults; first commit after a healing: median ",
		"leaders    2 lost; silence until the next commit where the fault met the leader alone (2): median 2.0",
		"history    "+filepath.Join("runs/1", report.HistoryName)+"\n",
	)
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a control character came out")
	}
}

func TestALossBeginsWithItsCauseAndLastsUntilTheNextCommit(t *testing.T) {
	losses := report.Losses(made(30000).History)
	if len(losses) != 2 {
		t.Fatalf("%d losses: %+v", len(losses), losses)
	}
	for i, want := range []report.Loss{
		{Node: "n1", Term: 2, At: 10 * time.Second, Step: 1, Fault: "kill/leader", Alone: true},
		{Node: "n2", Term: 3, At: 30 * time.Second, Step: 2, Fault: "partition/leader-only", Alone: true},
	} {
		got := losses[i]
		if got.Took < 1900*time.Millisecond || got.Took > 2100*time.Millisecond {
			t.Errorf("loss %d took %v", i, got.Took)
		}
		if got.Took = 0; got != want {
			t.Errorf("loss %d is %+v, want %+v", i, got, want)
		}
	}
}

func TestALossAfterWhichNothingIsAcknowledged(t *testing.T) {
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	h := &history.History{
		Ops: []history.Op{{Outcome: history.OK, Invoke: second(1), Return: second(2)}, {Outcome: history.Unknown, Invoke: second(9), Return: history.Never}},
		Events: []history.Event{
			{At: second(1), Kind: history.EventLeader, Node: "n1", Term: 1},
			{At: second(1), Kind: history.EventLeader, Node: "n1", Term: 1}, // seen again
			{At: second(4), Kind: history.EventExit, Node: "n1"},
		},
	}
	want := report.Loss{Node: "n1", Term: 1, At: second(4), Took: second(5), Never: true}
	if got := report.Losses(h); len(got) != 1 || got[0] != want {
		t.Errorf("losses %+v, want %+v", got, want)
	}
}

func TestCountsAreByWorkloadAndByCall(t *testing.T) {
	op := func(call string, o history.Outcome, took time.Duration, code string) history.Op {
		return history.Op{Workload: "register", Call: call, Outcome: o, Return: took, Code: code}
	}
	got := report.Counts(&history.History{Ops: []history.Op{
		op("put", history.OK, 1, ""), op("put", history.OK, 3, ""), op("put", history.OK, 2, ""),
		op("put", history.Unknown, history.Never, "unknown"), op("get", history.Refused, 9, "unavailable"),
	}})
	if len(got) != 3 || got[0].Call != "" || got[1].Call != "get" || got[2].Call != "put" {
		t.Fatalf("counts %+v", got)
	}
	if c := got[0]; c.Calls != 5 || c.OK != 3 || c.Refused != 1 || c.Unknown != 1 || c.P50 != 2 || c.P99 != 3 || c.Codes["unavailable"] != 1 {
		t.Errorf("of the workload: %+v", c)
	}
}

func TestTheDocumentLeavesOutPicturesAndWhatNeverCame(t *testing.T) {
	run := failed(made(3000), 4096)
	run.Dir = t.TempDir()
	run.History.Events = append(run.History.Events, history.Event{At: 50 * time.Second, Kind: history.EventFault, Step: 3, Name: "pause"})
	if err := report.Write(run); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(run.Dir, report.ResultName))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Verdict    string
		Calls      int
		Results    []check.Result
		Recoveries []map[string]any
		Losses     []report.Loss
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "violation" || got.Calls != 3000 || len(got.Losses) != 2 || len(got.Recoveries) != 3 {
		t.Errorf("%s", raw[:300])
	}
	if got.Results[1].Findings[0].Picture != nil || run.Results[1].Findings[0].Picture == nil {
		t.Error("the picture is in the document, or was taken from the run")
	}
	if again, err := report.ReadDocument(run.Dir); err != nil || again.Judged() != 2000 || again.Verdict != run.Verdict || len(again.Losses) != 2 {
		t.Errorf("read again: %v, %+v", err, again.Run)
	}
	if _, err := report.ReadDocument(t.TempDir()); err == nil {
		t.Error("an empty directory has a result")
	}
	if to, there := got.Recoveries[2]["to"]; there {
		t.Errorf("a fault that was not healed was healed at %v", to)
	}
}

// A page is made of a history whose calls all took the same time, or none.
func TestAPageIsMadeOfCallsThatTookNoTime(t *testing.T) {
	for _, ops := range [][]history.Op{nil, {{ID: 1, Workload: "turn", Call: "put", Outcome: history.OK, Invoke: time.Second, Return: time.Second}}} {
		var page bytes.Buffer
		if err := report.Page(&page, &report.Run{History: &history.History{Ops: ops}}); err != nil || page.Len() == 0 {
			t.Errorf("%d calls: %v", len(ops), err)
		}
	}
}
