package jepsen

import (
	"maps"
	"testing"
)

func TestASeedRepeatsTheSettingsOfEachNode(t *testing.T) {
	different, drawn := false, map[string]int{}
	for seed := range uint64(40) {
		a := knobsOf(Options{Seed: seed}, "n1")
		if !maps.Equal(a, knobsOf(Options{Seed: seed}, "n1")) || len(a) != len(knobs) {
			t.Fatalf("seed %d gave n1 two settings, or not all: %v", seed, a)
		}
		timing := timingOf(Options{Seed: seed})
		drawn[timing]++
		if timing != timingOf(Options{Seed: seed}) || timingOf(Options{Seed: seed, Timing: "wan"}) != "wan" {
			t.Fatalf("seed %d gave two timings, or not the one that was asked for", seed)
		}
		different = different || !maps.Equal(a, knobsOf(Options{Seed: seed}, "n2"))
	}
	if len(drawn) != len(timings) || drawn["lan"] < drawn["wan"] {
		t.Errorf("the timings are drawn %v", drawn)
	}
	if !different {
		t.Error("all nodes have the same settings")
	}
	for _, o := range []Options{{Bug: "no-dedupe"}, {Previous: "dormoused"}} {
		if own := knobsOf(o, "n1"); len(own) != 0 || timingOf(o) != "" {
			t.Errorf("%+v: %v, %q", o, own, timingOf(o))
		}
		o.Settings = map[string]string{"raft.leader_write": "first"}
		if own := knobsOf(o, "n1"); !maps.Equal(own, map[string]string{"DORMOUSE_RAFT__LEADER_WRITE": "first"}) {
			t.Errorf("%+v: %v", o, own)
		}
	}
	for seed := range uint64(10) {
		own := knobsOf(Options{Seed: seed, Settings: map[string]string{"raft.leader_write": "first"}}, "n1")
		if len(own) != len(knobs) || own["DORMOUSE_RAFT__LEADER_WRITE"] != "first" {
			t.Errorf("seed %d: %v", seed, own)
		}
	}
}
