package jepsen

import (
	"maps"
	"testing"

	"dormouse/config"
)

// TestEverySettingThatIsDrawnIsOneThatNodesTake loads the configuration with each two values of different settings.
func TestEverySettingThatIsDrawnIsOneThatNodesTake(t *testing.T) {
	base := []string{"DORMOUSE_NODE__ID=n1", "DORMOUSE_RAFT__ADDR=127.0.0.1:7602"}
	for _, timing := range timings {
		for i, one := range knobs {
			for _, other := range knobs[i+1:] {
				for _, a := range one.values {
					for _, b := range other.values {
						own := append(base, "DORMOUSE_CLUSTER__TIMING="+timing, one.setting+"="+a, other.setting+"="+b)
						if _, err := config.Load(config.Sources{Environ: own}); err != nil {
							t.Errorf("%v: %v", own[2:], err)
						}
					}
				}
			}
		}
	}
}

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
