package jepsen_test

import (
	"testing"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
)

// A run may end with no running node; the checkers report that.
func TestNodesAreLevelUnlessTwoDiffer(t *testing.T) {
	at := check.Sample{Applied: 7, Term: 2, Chain: 9}
	ahead := at
	ahead.Applied++
	for _, test := range []struct {
		name    string
		samples []check.Sample
		level   bool
	}{
		{"no node", nil, true},
		{"one node", []check.Sample{at}, true},
		{"three at one place", []check.Sample{at, at, at}, true},
		{"one ahead", []check.Sample{at, ahead, at}, false},
	} {
		if got := jepsen.Level(test.samples); got != test.level {
			t.Errorf("%s: level is %t", test.name, got)
		}
	}
}
