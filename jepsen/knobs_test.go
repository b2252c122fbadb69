package jepsen

import (
	"maps"
	"testing"
)

func TestASeedRepeatsTheSettingsOfEachNode(t *testing.T) {
	different := false
	for seed := range uint64(10) {
		a := knobsOf(Options{Seed: seed}, "n1")
		if !maps.Equal(a, knobsOf(Options{Seed: seed}, "n1")) || len(a) != len(knobs) {
			t.Fatalf("seed %d gave n1 two settings, or not all: %v", seed, a)
		}
		different = different || !maps.Equal(a, knobsOf(Options{Seed: seed}, "n2"))
	}
	if !different {
		t.Error("all nodes have the same settings")
	}
	for _, o := range []Options{{Bug: "no-dedupe"}, {Previous: "dormoused"}} {
		if own := knobsOf(o, "n1"); own != nil {
			t.Errorf("%+v: %v", o, own)
		}
	}
}
