package top

import (
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// An index that is unknown, or that another node reports, has no growth.
func TestGrowthOfAnIndex(t *testing.T) {
	at := func(second int, commit, applied uint64) *sample {
		s := &sample{At: time.Unix(int64(second), 0)}
		s.status.CommitIndex = commit
		s.status.Members = []layout.MemberStatus{{Member: layout.Member{ID: "n1"}, AppliedIndex: applied}}
		return s
	}
	for _, c := range []struct {
		before, now   *sample
		entries, node float64
	}{
		{at(1, 100, 90), at(3, 150, 100), 25, 5},
		{at(1, 100, 90), at(3, 95, 110), 5, 10},
		{at(1, 100, 0), at(3, 90, 80), 0, 0},
		{at(3, 100, 90), at(3, 150, 100), 0, 0},
		{nil, at(3, 150, 100), 0, 0},
	} {
		if got := growth(c.before, c.now, lastIndex); got != c.entries {
			t.Errorf("%v entries a second, want %v", got, c.entries)
		}
		if got := growth(c.before, c.now, appliedBy("n1")); got != c.node {
			t.Errorf("%v entries a second of n1, want %v", got, c.node)
		}
	}
	if got := appliedBy("n2")(at(1, 1, 1)); got != 0 {
		t.Errorf("an unknown node has applied %d", got)
	}
}

// A counter that was reset has no rate, and neither has a node that did not answer.
func TestRates(t *testing.T) {
	at := func(second int, n agent.NodeStats) *sample {
		n.Node = "n1"
		return &sample{At: time.Unix(int64(second), 0), Stats: agent.ManagerStats{Nodes: []agent.NodeStats{n}}}
	}
	for _, c := range []struct {
		before, now *sample
		want        float64
	}{
		{at(1, agent.NodeStats{Signals: 10}), at(3, agent.NodeStats{Signals: 25}), 7.5},
		{at(1, agent.NodeStats{Signals: 10}), at(3, agent.NodeStats{Signals: 5}), 0},
		{at(1, agent.NodeStats{Error: "down"}), at(3, agent.NodeStats{Signals: 5}), 0},
		{nil, at(3, agent.NodeStats{Signals: 5}), 0},
		{at(3, agent.NodeStats{}), at(3, agent.NodeStats{Signals: 5}), 0},
	} {
		if got := rate(c.before, c.now, "n1", func(n agent.NodeStats) uint64 { return n.Signals }); got != c.want {
			t.Errorf("%v → %v: %v a second, want %v", c.before, c.now, got, c.want)
		}
	}
}

func TestMovesAreSummedUp(t *testing.T) {
	now := &sample{}
	now.Placement.Nodes = []layout.PlacedNode{{Node: "n1", Owned: 3}, {Node: "n2"}}
	now.Placement.Moving = []layout.Partition{
		{ID: 1, Owner: "n1", To: "n2", Why: "n2 joined"}, {ID: 2, Owner: "n1", To: "n2", Why: "n2 joined"}, {ID: 3, Owner: "n1", Why: "n1 leaves"},
	}
	text := topText(topOf(nil, now, nil))
	for _, want := range []string{"3 moving, 0 free", "0 awake, ? dormant", "n1     -    1            n1 leaves\n", "n1     n2   2            n2 joined\n", "unknown"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
