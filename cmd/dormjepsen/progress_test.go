package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

func TestALiveLineFollowsTheHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	var tail tail
	defer tail.close()
	if lines := tail.read(path); lines != nil {
		t.Fatalf("lines of no file: %q", lines)
	}
	f := newFollower(time.Minute)
	at := time.Unix(1000, 0)
	if got := f.show(at); got != "starting the cluster" {
		t.Errorf("before anything: %q", got)
	}
	r, err := history.Create(path, history.Header{Workloads: []string{"set"}})
	if err != nil {
		t.Fatal(err)
	}
	r.Event(history.Event{Kind: history.EventPhase, Name: check.PhaseFaults})
	r.Event(history.Event{Kind: history.EventLeader, Node: "n2", Term: 5})
	r.Event(history.Event{Kind: history.EventFault, Name: "kill", Step: 1})
	r.Event(history.Event{Kind: history.EventFault, Name: "clock", Step: 2})
	r.Event(history.Event{Kind: history.EventHeal, Name: "kill", Step: 1})
	for range 20 {
		r.Return(r.Invoke(history.Op{Workload: "set"}), nil)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, line := range tail.read(path) {
		f.line(at, line)
	}
	if got, want := f.show(at.Add(2*time.Second)), "58s left · 10 calls/s · n2 leads in term 5 · faults: clock"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLinesOfATerminalStandAboveTheLiveOne(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, true)
	p.draw("5s left")
	out.Reset()
	p.line("n2 leads\x1b[2J")
	if got, want := out.String(), eraseLine+"n2 leads\uFFFD[2J\n"+noWrap+"5s left"+wrap; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestElsewhereThereAreOnlyLines(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, false)
	p.draw("5s left")
	p.line("n2 leads")
	p.follow("nowhere", time.Second)()
	p.end()
	if got := out.String(); got != "n2 leads\n" || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}
