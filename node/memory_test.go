package node_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/config"
	"dormouse/node"
	"dormouse/node/nodetest"
)

// The metrics have the bytes of each cache, which grow, and its bound, which follows from storage.memory.
func TestEachCacheTellsItsBytesAndItsLimit(t *testing.T) {
	var c config.Config
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Configure: func(to *config.Config) {
		to.Storage = config.Storage{Memory: "96MiB"}
		c = *to
	}})
	for i := range 50 {
		commit := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: fmt.Sprint("k", i), Bytes: make([]byte, 1<<10)}}}
		if _, err := n.Commit(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	plan := node.MemoryPlan(c)
	bytes, limits := cachesOf(t, n.HTTPAddr(), "dormouse_cache_bytes"), cachesOf(t, n.HTTPAddr(), "dormouse_cache_limit_bytes")
	want := map[string]int64{
		"engine": plan.Engine, "apply_rows": plan.ApplyRows, "read_rows": plan.ReadRows, "memory_indexes": plan.Indexes, "log_entries": plan.Entries,
	}
	if len(limits) != len(want) || len(bytes) != len(want) {
		t.Errorf("bytes %v, limits %v", bytes, limits)
	}
	for cache, limit := range want {
		if limits[cache] != float64(limit) {
			t.Errorf("the limit of %s is %v, want %d", cache, limits[cache], limit)
		}
	}
	for _, cache := range []string{"engine", "apply_rows", "log_entries"} {
		if bytes[cache] < 1<<10 {
			t.Errorf("after 50 KiB were written, %s has %v bytes", cache, bytes[cache])
		}
	}
	if plan.Bytes != 96<<20 || plan.Source != "the setting" {
		t.Errorf("the plan is of %v", plan.Budget)
	}
}

// cachesOf returns the values of a metric by cache.
func cachesOf(t *testing.T, addr, metric string) map[string]float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	found := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), metric+`{cache="`)
		if !ok {
			continue
		}
		var value float64
		name, rest, _ := strings.Cut(rest, `"} `)
		if _, err := fmt.Sscan(rest, &value); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		found[name] = value
	}
	return found
}
