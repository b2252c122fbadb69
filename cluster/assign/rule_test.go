package assign

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// ruledCluster is a leader's state: node n1, and hosts h1 with a Go handler and h2 without.
type ruledCluster struct {
	Machine
	Table
	level   uint32
	drained []layout.DrainedNode
}

func (ruledCluster) Members() []layout.Member {
	return []layout.Member{
		{ID: "h1", Host: true, FeatureLevelMax: layout.RulesLevel}, {ID: "h2", Host: true, FeatureLevelMax: layout.RulesLevel}, {ID: "n1", FeatureLevelMax: layout.RulesLevel},
	}
}

func (ruledCluster) NodeLeases() []layout.NodeLease {
	return []layout.NodeLease{{Node: "h1", TTL: time.Second, Handlers: []string{"a@1"}}, {Node: "h2", TTL: time.Second}, {Node: "n1", TTL: time.Second}}
}

func (c ruledCluster) FeatureLevel() uint32               { return c.level }
func (c ruledCluster) DrainedNodes() []layout.DrainedNode { return c.drained }
func (ruledCluster) EncodeDrainNode(n string, d bool) []byte {
	return fmt.Appendf(nil, "drain %s %v", n, d)
}

func (ruledCluster) EncodePinPartition(n int, to string) []byte {
	return fmt.Appendf(nil, "pin %d %s", n, to)
}

// The leader judges what only it knows, and leaves the rest to the state machine.
func TestTheLeaderMakesRules(t *testing.T) {
	for _, c := range []struct {
		what    string
		r       Rule
		level   uint32
		drained string
		want    string // what is committed; "" if it is refused
		says    string
	}{
		{"drain", Rule{Kind: RuleDrain, Node: "n1"}, layout.RulesLevel, "", "drain n1 true", ""},
		{"resume", Rule{Kind: RuleResume, Node: "n1"}, layout.RulesLevel, "n1", "drain n1 false", ""},
		{"an older cluster", Rule{Kind: RuleDrain, Node: "n1"}, layout.RulesLevel - 1, "", "", "upgrade all nodes first"},
		{"a pin", Rule{Kind: RulePin, Node: "h1", Partition: 7}, layout.RulesLevel, "", "pin 7 h1", ""},
		{"a pin to one without handlers", Rule{Kind: RulePin, Node: "h2", Partition: 7}, layout.RulesLevel, "", "", "lacks Go handlers"},
		{"a pin to a node, beside one with handlers", Rule{Kind: RulePin, Node: "n1", Partition: 7}, layout.RulesLevel, "", "", "lacks Go handlers"},
		{"that one is drained", Rule{Kind: RulePin, Node: "n1", Partition: 7}, layout.RulesLevel, "h1", "pin 7 n1", ""},
		{"a stranger", Rule{Kind: RulePin, Node: "n9", Partition: 7}, layout.RulesLevel, "", "pin 7 n9", ""},
		{"no pin", Rule{Kind: RuleUnpin, Partition: 7}, layout.RulesLevel, "", "pin 7 ", ""},
		{"no rule", Rule{Kind: "x"}, layout.RulesLevel, "", "", "unknown kind"},
	} {
		cluster := ruledCluster{level: c.level}
		if c.drained != "" {
			cluster.drained = []layout.DrainedNode{{Node: c.drained}}
		}
		committed := ""
		a := New(Options{
			Placement: Placement{Table: cluster}, Machine: cluster, Leadership: leads{},
			Commit: func(_ context.Context, cmd []byte) (uint64, error) { committed = string(cmd); return 7, nil },
		})
		answer := a.HandleRule(t.Context(), c.r)
		if committed != c.want || (answer.Index == 7) != (c.want != "") || !strings.Contains(answer.Detail, c.says) || (answer.Refused == "") != (c.want != "") {
			t.Errorf("%s: committed %q, answered %+v", c.what, committed, answer)
		}
	}
}

// A refusal of the state machine is the answer; any other error leaves the outcome open.
func TestARefusedRuleIsAnswered(t *testing.T) {
	refusal := agent.Errorf(agent.CodeNotFound, "no member is called %q", "n9")
	refusal.Final = true
	for _, c := range []struct {
		err  error
		want agent.Code
	}{{refusal, agent.CodeNotFound}, {agent.Errorf(agent.CodeUnavailable, "it led until now"), ""}, {context.Canceled, ""}} {
		cluster := ruledCluster{level: layout.RulesLevel}
		a := New(Options{
			Placement: Placement{Table: cluster}, Machine: cluster, Leadership: leads{},
			Commit: func(context.Context, []byte) (uint64, error) { return 0, c.err },
		})
		if answer := a.HandleRule(t.Context(), Rule{Kind: RuleDrain, Node: "n9"}); answer.Refused != c.want || answer.Index != 0 {
			t.Errorf("%v: %+v", c.err, answer)
		}
	}
}
