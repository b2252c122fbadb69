package pod_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/instance/pod"
)

func ops(tb testing.TB, raw string) []pod.Op {
	tb.Helper()
	list, err := pod.ParseOps(agent.JSON(raw))
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

func TestAMutationIsPlanned(t *testing.T) {
	plan, err := parse(t, team).Plan(ops(t, `[
		{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"},"owner":"boss","depends_on":["store"]}},
		{"add_node":{"name":"lee","node":{"manager":"agents"}}},
		{"remove_node":{"name":"ann"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Topology.Version != 2 {
		t.Errorf("PD-7 version %d after a structural change, want 2", plan.Topology.Version)
	}
	if !slices.Equal(plan.Added, []string{"kim", "lee"}) || !slices.Equal(plan.Start, []string{"kim"}) {
		t.Errorf("added %q and of these started %q: only eager ones are", plan.Added, plan.Start)
	}
	if got := slices.Sorted(maps.Keys(plan.Removed)); !slices.Equal(got, []string{"ann", "eve"}) {
		t.Errorf("PD-9 removed %q: a node goes with all that it owns", got)
	}
	if diff := cmp.Diff([][]string{{"eve"}, {"ann"}}, plan.Stop); diff != "" {
		t.Errorf("PD-9 stops: %s", diff)
	}
	for _, l := range plan.Topology.Links {
		if l.From == "ann" || l.To == "ann" || l.To == "eve" {
			t.Errorf("link %v has outlived its node", l)
		}
	}
}

func TestABadMutationIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		code agent.Code
		says string
	}{
		"PD-8 add one that is there":   {`[{"add_node":{"name":"ann","node":{"manager":"m"}}}]`, agent.CodeInvalid, "already exists"},
		"PD-8 remove one that is not":  {`[{"remove_node":{"name":"zoe"}}]`, agent.CodeNotFound, `"zoe"`},
		"PD-8 a node twice":            {`[{"remove_node":{"name":"ann"}},{"add_node":{"name":"ann","node":{"manager":"m"}}}]`, agent.CodeInvalid, "twice"},
		"PD-8 twice through its owner": {`[{"remove_node":{"name":"eve"}},{"remove_node":{"name":"eve"}}]`, agent.CodeInvalid, "twice"},
		"PD-8 under one that goes":     {`[{"add_node":{"name":"kim","node":{"manager":"m"},"owner":"ann"}},{"remove_node":{"name":"ann"}}]`, agent.CodeInvalid, "twice"},
		"owner that is not there":      {`[{"add_node":{"name":"kim","node":{"manager":"m"},"owner":"zoe"}}]`, agent.CodeInvalid, `"zoe"`},
		"neither":                      {`[{}]`, agent.CodeInvalid, "exactly one"},
		"both":                         {`[{"add_node":{"name":"kim","node":{"manager":"m"}},"remove_node":{"name":"ann"}}]`, agent.CodeInvalid, "exactly one"},
		"a cycle of dependencies":      {`[{"add_node":{"name":"kim","node":{"manager":"m"},"depends_on":["lee"]}},{"add_node":{"name":"lee","node":{"manager":"m"},"depends_on":["kim"]}}]`, agent.CodeInvalid, "cycle"},
		"too many":                     {"[" + strings.TrimSuffix(strings.Repeat("{},", pod.OpsMax+1), ",") + "]", agent.CodeTooLarge, "257"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, team).Plan(ops(t, c.raw))
			if agent.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s that says %q", err, c.code, c.says)
			}
		})
	}
}

// PD-7: the version grows with each change of the structure, and only then.
func TestTheVersionCountsStructuralChanges(t *testing.T) {
	before := parse(t, team)
	for name, c := range map[string]struct {
		raw  string
		want uint64
	}{
		"the same":          {team, 1},
		"meta":              {strings.Replace(team, `"eve":{`, `"eve":{"meta":{"x":1},`, 1), 1},
		"a link twice more": {strings.Replace(team, `"links":[`, `"links":[["owns","boss","bob"],`, 1), 1},
		"activation":        {strings.Replace(team, `"eve":{`, `"eve":{"activation":"eager",`, 1), 2},
		"a link less":       {strings.Replace(team, `,["depends_on","bob","store"]`, ``, 1), 2},
	} {
		t.Run(name, func(t *testing.T) {
			after, err := before.Replace(parse(t, c.raw))
			if err != nil {
				t.Fatal(err)
			}
			if after.Version != c.want {
				t.Errorf("version %d, want %d", after.Version, c.want)
			}
		})
	}
	plan, err := before.Plan(nil)
	if err != nil || plan.Topology.Version != 1 {
		t.Errorf("no ops: version %d, %v", plan.Topology.Version, err)
	}
}

// For any ops, a plan's topology is valid. It has the old nodes without the
// removed ones, and the added nodes. Each removed node stops once.
func TestPlansAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawTopology(t)
		var list []pod.Op
		for range rapid.IntRange(0, 4).Draw(t, "ops") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "x", "y"}).Draw(t, "node")
			if rapid.Bool().Draw(t, "add") {
				owner := rapid.SampledFrom([]string{"", "a", "x"}).Draw(t, "owner")
				list = append(list, pod.Op{AddNode: &pod.AddNode{Name: name, Node: pod.Node{Manager: "m"}, Owner: owner}})
			} else {
				list = append(list, pod.Op{RemoveNode: &pod.RemoveNode{Name: name}})
			}
		}
		kept := maps.Clone(before.Nodes)
		plan, err := before.Plan(list)
		if !maps.EqualFunc(kept, before.Nodes, func(a, b pod.Node) bool { return a.Manager == b.Manager && a.Activation == b.Activation }) {
			t.Fatal("the plan has changed the topology that it began with")
		}
		if err != nil {
			return
		}
		if err := plan.Topology.Validate(); err != nil {
			t.Fatal(err)
		}
		for name := range plan.Removed {
			delete(kept, name)
		}
		for _, name := range plan.Added {
			kept[name] = pod.Node{}
		}
		if got, want := slices.Sorted(maps.Keys(plan.Topology.Nodes)), slices.Sorted(maps.Keys(kept)); !slices.Equal(got, want) {
			t.Fatalf("nodes %q, want %q", got, want)
		}
		stops := slices.Concat(plan.Stop...)
		slices.Sort(stops)
		if want := slices.Sorted(maps.Keys(plan.Removed)); !slices.Equal(stops, want) {
			t.Fatalf("stops %q, want %q", stops, want)
		}
	})
}

// Errors of documents are in words of JSON, and name the member.
func TestAWrongDocumentIsNamed(t *testing.T) {
	for _, c := range []struct{ topology, ops, want string }{
		{"", `[{"add_nod":{}}]`, "there is no member ops[0].add_nod"},
		{"", `{}`, "ops is an object, and should be an array"},
		{"", `[{"remove_node":{"name":5}}]`, "ops[0].remove_node.name is a number, and should be a string"},
		{`{"nodes":5}`, "", "topology.nodes is a number, and should be an object"},
		{`{"node":{}}`, "", "there is no member topology.node"},
	} {
		var err error
		if c.topology == "" {
			_, err = pod.ParseOps(agent.JSON(c.ops))
		} else {
			_, err = pod.Parse(agent.JSON(c.topology))
		}
		if agent.CodeOf(err) != agent.CodeInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: %v, want %q", c.topology, c.ops, err, c.want)
		}
	}
}
