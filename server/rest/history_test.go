package rest_test

import (
	"slices"
	"testing"
	"time"

	"dormouse/internal/history"
	"dormouse/server/rest"
)

func TestTheHistoryHasACountForEachStep(t *testing.T) {
	k := newKitWith(t, rest.Options{Node: "n1", History: func() history.Snapshot {
		quiet := history.Series{Calls: []uint64{0, 0}, P50: make([]time.Duration, 2), P99: make([]time.Duration, 2)}
		return history.Snapshot{
			From: time.UnixMilli(1_700_000_000_000), Reads: quiet, Signals: quiet,
			Writes: history.Series{Calls: []uint64{3, 4}, P50: []time.Duration{time.Millisecond, 0}, P99: []time.Duration{2 * time.Millisecond, 0}},
		}
	}})
	got := k.call("GET", "/v1/cluster/history", "").ok(200)
	writes := got["writes"].(map[string]any)
	if got["node"] != "n1" || got["from"] != 1.7e12 || got["step_ms"] != 1e4 || !slices.Equal(writes["calls"].([]any), []any{3.0, 4.0}) ||
		!slices.Equal(writes["p99_us"].([]any), []any{2000.0, 0.0}) {
		t.Errorf("the history is %v", got)
	}
}

func TestANodeWithoutAHistorySaysSo(t *testing.T) {
	newKit(t).call("GET", "/v1/cluster/history", "").problem(503, "unavailable")
}
