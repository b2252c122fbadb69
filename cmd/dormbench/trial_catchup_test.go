package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dormouse/bench/report"
	"dormouse/bench/system"
)

func TestCatchUpReportsMediansOfAllTimes(t *testing.T) {
	var all []caughtUp
	for i, took := range []time.Duration{3 * time.Second, time.Second, 2 * time.Second} {
		all = append(all, caughtUp{index: uint64(100 + i), took: took, ready: 2 * took, installs: 1, snapshot: 7 << 20, log: 5 << 20, peak: 9 << 20, before: 100, meanwhile: 50})
	}
	got := map[string]report.Trial{}
	for _, trial := range caughtUpTrials("catch-up", all) {
		got[trial.Name] = trial
	}
	for name, want := range map[string]float64{
		"catch-up": 2, "catch-up, ready": 4, "catch-up, installs": 1, "catch-up, snapshot": 7, "catch-up, memory": 9, "catch-up, writes": 0.5,
	} {
		if trial, ok := got[name]; !ok || trial.Value != want {
			t.Errorf("%s is %v, want %v", name, trial.Value, want)
		}
	}
	if note := got["catch-up"].Note; !strings.Contains(note, "entry 102") || !strings.Contains(note, "5 MiB") || !strings.Contains(note, "1 to 3 in 3 times") {
		t.Errorf("the note is %q", note)
	}
	for _, trial := range caughtUpTrials("catch-up", []caughtUp{{took: time.Second}}) {
		if strings.HasSuffix(trial.Name, "writes") {
			t.Errorf("without load there is %v", trial)
		}
	}
}

// Prometheus writes large numbers with an exponent.
func TestCatchUpReadsLargeMetrics(t *testing.T) {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "dormouse_cluster_log_bytes 6.7108864e+07\ndormouse_cluster_snapshot_installs_total 2\n")
	}))
	defer node.Close()
	if n, err := system.LogBytes(t.Context(), node.URL); err != nil || n != 64<<20 {
		t.Errorf("the log has %d bytes, %v", n, err)
	}
	if n, err := system.Installs(t.Context(), node.URL); err != nil || n != 2 {
		t.Errorf("the node installed %d snapshots, %v", n, err)
	}
}

func TestCatchUpFindsTheInstalledSnapshot(t *testing.T) {
	dir := t.TempDir()
	for name, bytes := range map[string]int{"1-10-1": 1 << 20, "1-20-2": 3 << 20} {
		data := filepath.Join(dir, "state", "snapshots", name, "data")
		if err := os.MkdirAll(data, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, "table"), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if size, err := installedSize(dir); err != nil || size != 3<<20 {
		t.Errorf("the snapshot has %d bytes, %v", size, err)
	}
	if _, err := installedSize(t.TempDir()); err == nil {
		t.Error("a node without snapshots has one")
	}
}
