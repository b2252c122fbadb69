package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"dormouse/bench/system"
)

// A measurement starts after several consecutive polls without a compaction.
func TestGrowthWaitsUntilNoEngineCompacts(t *testing.T) {
	var looks atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		compacting := 0
		if look := looks.Add(1); look == 1 || look == 3 {
			compacting = 2
		}
		_, _ = fmt.Fprintf(w, "# TYPE dormouse_engine_compacting gauge\ndormouse_engine_compacting %d\n", compacting)
	}))
	defer node.Close()
	if err := (&stage{}).settle(t.Context(), &system.System{HTTP: []string{node.URL}}); err != nil {
		t.Fatal(err)
	}
	if n := looks.Load(); n != 3+settledLooks {
		t.Errorf("it looked %d times, want %d", n, 3+settledLooks)
	}
}

func TestANodeThatDoesNotTellWhetherItCompactsIsAnError(t *testing.T) {
	node := httptest.NewServer(http.NotFoundHandler())
	defer node.Close()
	err := (&stage{}).settle(t.Context(), &system.System{HTTP: []string{node.URL}})
	if err == nil || !strings.Contains(err.Error(), node.URL) {
		t.Errorf("the error is %v", err)
	}
}
