package nemesis_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/nemesis"
)

func draw(t *testing.T, seed uint64, nodes int, total time.Duration, faults ...string) nemesis.Plan {
	t.Helper()
	p, err := nemesis.Draw(seed, faults, nodes, true, total)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPlanIsTheSameForTheSameSeed(t *testing.T) {
	one, again := draw(t, 7, 3, time.Minute, "kill", "pause"), draw(t, 7, 3, time.Minute, "kill", "pause")
	if !reflect.DeepEqual(one, again) {
		t.Errorf("two plans of one seed:\n%v\n%v", one, again)
	}
	if other := draw(t, 8, 3, time.Minute, "kill", "pause"); reflect.DeepEqual(one.Steps, other.Steps) {
		t.Error("two seeds gave one plan")
	}
	// A lane does not depend on the other lanes.
	alone := draw(t, 7, 3, time.Minute, "pause")
	var lane []nemesis.Step
	for _, s := range one.Steps {
		if s.Fault == "pause" {
			s.N = len(lane) + 1
			lane = append(lane, s)
		}
	}
	if !reflect.DeepEqual(lane, alone.Steps) {
		t.Errorf("beside another lane:\n%v\nalone:\n%v", lane, alone.Steps)
	}
}

// TestPlansKeepTheirBounds draws many plans and checks each step.
func TestPlansKeepTheirBounds(t *testing.T) {
	for _, name := range nemesis.Names() {
		for _, nodes := range []int{1, 3, 5} {
			for seed := range uint64(30) {
				const total = time.Minute
				p := draw(t, seed, nodes, total, name)
				var last time.Duration
				for i, s := range p.Steps {
					switch {
					case s.N != i+1:
						t.Fatalf("%s: step %d is numbered %d", name, i+1, s.N)
					case s.At <= last:
						t.Fatalf("%s: %v begins before the one before it has ended at %v", name, s, last)
					case s.For < 50*time.Millisecond || s.At+s.For > total:
						t.Fatalf("%s: %v is not within a run of %v", name, s, total)
					}
					last = s.At + s.For
				}
			}
		}
	}
}

// TestEveryVariantComes checks that a long run has each variant that fits its size,
// and that every group has a variant for three nodes.
func TestEveryVariantComes(t *testing.T) {
	for _, name := range nemesis.Names() {
		for _, nodes := range []int{1, 3, 5} {
			t.Run(fmt.Sprint(name, " on ", nodes), func(t *testing.T) {
				p := draw(t, 1, nodes, 30*time.Minute, name)
				seen := map[string]bool{}
				for _, s := range p.Steps {
					seen[s.Variant] = true
				}
				for _, v := range nemesis.Variants(name, nodes) {
					if !seen[v] {
						t.Errorf("%s never comes", v)
					}
				}
				all := len(nemesis.Variants(name, 7))
				if fit := len(nemesis.Variants(name, nodes)); fit < all && len(p.Notes) == 0 {
					t.Errorf("%d variants are left out, and nobody says so", all-fit)
				}
				if name != "none" && nodes == 3 && len(p.Steps) == 0 {
					t.Error("nothing to do on three nodes")
				}
			})
		}
	}
}

// TestProgramsAreHarmedWhereTheyTakePart also checks that the plan of a run without
// programs does not depend on their variants.
func TestProgramsAreHarmedWhereTheyTakePart(t *testing.T) {
	for _, name := range []string{"kill", "pause", "partition", "transfer"} {
		alone, err := nemesis.Draw(1, []string{name}, 3, false, 30*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range alone.Steps {
			if strings.Contains(s.Variant, "program") {
				t.Errorf("%s, %s comes where no programs take part", name, s.Variant)
			}
		}
		together := draw(t, 1, 3, 30*time.Minute, name)
		if !slices.ContainsFunc(together.Steps, func(s nemesis.Step) bool { return strings.Contains(s.Variant, "program") }) {
			t.Errorf("%s does nothing to programs", name)
		}
	}
	p, err := nemesis.Draw(1, []string{"kill/a-program"}, 3, false, time.Minute)
	if err != nil || len(p.Steps) > 0 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "the run has no programs") {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestUnknownNamesListTheKnown(t *testing.T) {
	_, err := nemesis.Draw(1, []string{"earthquake"}, 3, false, time.Minute)
	if err == nil {
		t.Fatal("an earthquake was planned")
	}
	for _, name := range append(nemesis.Names(), "earthquake") {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

// TestOneVariantAlone checks that "group/variant" gives only that variant.
func TestOneVariantAlone(t *testing.T) {
	for name, want := range map[string]string{
		"partition/leader-receives-nothing": "leader receives nothing",
		"clock/the-leaders-jumps":           "the leader's jumps",
		"slow-net/slow-way-back-then-a-cut": "slow way back, then a cut",
		"kill/while-taking-a-snapshot-over": "while taking a snapshot over",
	} {
		p := draw(t, 1, 3, 10*time.Minute, name)
		if len(p.Steps) == 0 {
			t.Errorf("%s: nothing to do", name)
		}
		for _, s := range p.Steps {
			if s.Variant != want {
				t.Errorf("%s: %s comes", name, s.Variant)
			}
		}
	}
	_, err := nemesis.Draw(1, []string{"kill/softly"}, 3, false, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "again-and-again") {
		t.Errorf("%v, which does not name the variants that there are", err)
	}
}
