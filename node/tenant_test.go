package node_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// A scope with a rate slows itself: its client waits as it is told, and loses nothing. Another scope
// on the same node does not wait.
func TestAScopeOverItsRateSlowsItselfSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		c := w.dialWith(t, "", true, w.follower().name)
		if _, err := c.In("noisy").PutScope(t.Context(), agent.Policy{RequestsPerSecond: 20}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		took := func(scope string) time.Duration {
			began := time.Now()
			for i := range 60 {
				if _, err := c.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: fmt.Sprint(i)}}}); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(began)
		}
		if d := took("quiet"); d > time.Second {
			t.Errorf("the other scope took %v", d)
		}
		if d := took("noisy"); d < 1900*time.Millisecond || d > 6*time.Second {
			t.Errorf("60 puts at 20 a second took %v", d)
		}
	})
}

// The metrics name the largest scopes and add up the others, also a scope that has the name of the
// sum.
func TestMetricsOfScopesAreBoundedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 1)
		c := w.dialWith(t, "", true, "n1")
		for i := range 24 {
			ops := []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte(strings.Repeat("x", 100+i))}}
			if _, err := c.Commit(t.Context(), agent.Commit{Scope: fmt.Sprintf("s%02d", i), Ops: ops}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Commit(t.Context(), agent.Commit{Scope: "other", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: make([]byte, 10_000)}}}); err != nil {
			t.Fatal(err)
		}
		got, err := w.awake["n1"].ScopeMetrics()
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{
			"dormouse_scope_bytes s23": 123, "dormouse_scope_bytes s04": 104, "dormouse_scope_bytes other": 100 + 101 + 102 + 103 + 10_000,
			"dormouse_scope_keys other": 5, "dormouse_scope_requests_total s23": 1, "dormouse_scope_requests_total other": 5,
		} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
		if _, shown := got["dormouse_scope_bytes s03"]; shown {
			t.Error("more scopes have a label than the largest")
		}
	})
}

// The request counter of the scopes without a label does not fall when one of them gets a label, or
// loses it: Prometheus takes a counter that falls for a restart.
func TestTheCounterOfOtherScopesDoesNotFallSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 1)
		c := w.dialWith(t, "", true, "n1")
		put := func(scope string, bytes int) {
			t.Helper()
			ops := []agent.Op{&agent.PutValue{Key: "k", Bytes: make([]byte, bytes)}}
			if _, err := c.Commit(t.Context(), agent.Commit{Scope: scope, Ops: ops}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 21 {
			put(fmt.Sprintf("s%02d", i), 1000+i)
		}
		put("s00", 1000)
		put("s00", 1000)
		expect := func(when string, want map[string]float64) {
			t.Helper()
			time.Sleep(time.Minute) // so that the scopes are read again
			got, err := w.awake["n1"].ScopeMetrics()
			if err != nil {
				t.Fatal(err)
			}
			for scope, n := range want {
				if got["dormouse_scope_requests_total "+scope] != n {
					t.Errorf("%s, scope %s has %v requests, want %v", when, scope, got["dormouse_scope_requests_total "+scope], n)
				}
			}
		}
		expect("at first", map[string]float64{"s00": 0, "s01": 1, "other": 3})
		put("s00", 5000) // the largest
		expect("when s00 has a label", map[string]float64{"s00": 4, "s01": 0, "other": 3})
		put("s01", 1001)
		expect("when s01 has none", map[string]float64{"s00": 4, "s01": 0, "other": 4})
		put("s01", 6000)
		expect("when s01 has a label again", map[string]float64{"s00": 4, "s01": 3, "other": 4})
	})
}
