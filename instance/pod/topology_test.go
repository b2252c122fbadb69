package pod_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// team is a pod of five nodes: boss owns ann and bob, ann owns eve, bob depends
// on the store.
const team = `{"name":"team","nodes":{
	"boss":{"manager":"agents","activation":"eager"}, "ann":{"manager":"agents"}, "bob":{"manager":"agents"},
	"eve":{"manager":"agents"}, "store":{"manager":"stores","activation":"eager"}},
	"links":[["owns","boss","ann"],["owns","boss","bob"],{"type":"owns","from":"ann","to":"eve"},["depends_on","bob","store"],["owns","boss","ann"]]}`

func parse(tb testing.TB, raw string) pod.Topology {
	tb.Helper()
	t, err := pod.Parse(agent.JSON(raw))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func TestATopologyIsReadWithItsDefaults(t *testing.T) {
	topology := parse(t, team)
	if topology.Version != 1 || len(topology.Links) != 4 {
		t.Errorf("version %d and %d links, want 1 and, the double one dropped, 4", topology.Version, len(topology.Links))
	}
	if n := topology.Nodes["ann"]; n.Kind != pod.KindAgent || n.Activation != pod.Lazy {
		t.Errorf("ann is %+v", n)
	}
	if got := topology.Eager(); !slices.Equal(got, []string{"boss", "store"}) {
		t.Errorf("eager nodes %q", got)
	}
	if got := topology.Roots(); !slices.Equal(got, []string{"boss", "store"}) {
		t.Errorf("roots %q", got)
	}
}

func TestABadTopologyIsRefusedByField(t *testing.T) {
	for name, c := range map[string]struct{ raw, field, says string }{
		"no object":       {`[]`, "topology", "must be a JSON object"},
		"unknown member":  {`{"name":"t","knots":{}}`, "topology", "knots"},
		"no name":         {`{"nodes":{}}`, "topology.name", "begins with a letter"},
		"name":            {`{"name":"1t"}`, "topology.name", "begins with a letter"},
		"kind":            {`{"name":"t","nodes":{"a":{"manager":"m","kind":"cat"}}}`, "topology.nodes.a.kind", `"cat"`},
		"activation":      {`{"name":"t","nodes":{"a":{"manager":"m","activation":"soon"}}}`, "topology.nodes.a.activation", `"soon"`},
		"no manager":      {`{"name":"t","nodes":{"a":{}}}`, "topology.nodes.a.manager", "has no manager"},
		"missing end":     {`{"name":"t","nodes":{"a":{"manager":"m"}},"links":[["owns","a","b"]]}`, "topology.links", `"b"`},
		"self":            {`{"name":"t","nodes":{"a":{"manager":"m"}},"links":[["owns","a","a"]]}`, "topology.links", "itself"},
		"link type":       {`{"name":"t","nodes":{"a":{"manager":"m"},"b":{"manager":"m"}},"links":[["likes","a","b"]]}`, "topology.links", `"likes"`},
		"two owners":      {`{"name":"t","nodes":{"a":{"manager":"m"},"b":{"manager":"m"},"c":{"manager":"m"}},"links":[["owns","a","c"],["owns","b","c"]]}`, "topology.links", "two owners"},
		"cycle of owners": {`{"name":"t","nodes":{"a":{"manager":"m"},"b":{"manager":"m"}},"links":[["owns","a","b"],["owns","b","a"]]}`, "topology.links", "owns itself"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pod.Parse(agent.JSON(c.raw))
			var e *agent.Error
			if !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Field != c.field || !strings.Contains(e.Detail, c.says) {
				t.Errorf("got %+v, want invalid in %s that says %s", err, c.field, c.says)
			}
		})
	}
}

func TestNodesStartInWaves(t *testing.T) {
	topology := parse(t, team)
	for name, c := range map[string]struct {
		requested []string
		want      [][]string
	}{
		"eager":                               {[]string{"boss", "store"}, [][]string{{"boss", "store"}}},
		"PD-2 ensure starts the owner chain":  {[]string{"eve"}, [][]string{{"boss"}, {"ann"}, {"eve"}}},
		"PD-2 ensure starts the dependencies": {[]string{"bob"}, [][]string{{"boss", "store"}, {"bob"}}},
		"nothing":                             {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := topology.Waves(c.requested)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := topology.Waves([]string{"zoe"}); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("PD-13 a node that the topology does not have: %v, want not_found", err)
	}
}

func TestACycleOfDependenciesIsRefused(t *testing.T) {
	topology := parse(t, `{"name":"t","nodes":{"a":{"manager":"m"},"b":{"manager":"m"},"c":{"manager":"m"}},
		"links":[["depends_on","a","b"],["depends_on","b","a"]]}`)
	if _, err := topology.Waves([]string{"c"}); err != nil {
		t.Errorf("c is in no cycle: %v", err)
	}
	if _, err := topology.Waves([]string{"a"}); agent.CodeOf(err) != agent.CodeInvalid || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("got %v, want invalid that names a, b", err)
	}
}

// For any topology: each requested node starts once, after all nodes that it
// needs and as early as possible. No other node starts.
func TestWavesAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topology := drawTopology(t)
		names := topology.Eager()
		waves, err := topology.Waves(names)
		if err != nil {
			t.Fatal(err) // drawn links only go up
		}
		at := map[string]int{}
		for n, wave := range waves {
			if !slices.IsSorted(wave) || len(wave) == 0 {
				t.Fatalf("wave %d is %q", n, wave)
			}
			for _, name := range wave {
				if _, twice := at[name]; twice {
					t.Fatalf("%s comes twice", name)
				}
				at[name] = n
			}
		}
		for _, name := range names {
			if _, comes := at[name]; !comes {
				t.Fatalf("%s was requested, and does not come", name)
			}
		}
		for name, n := range at {
			earliest := 0
			for _, l := range topology.Links {
				first, then := l.From, l.To
				if l.Type == pod.DependsOn {
					first, then = l.To, l.From
				}
				if then == name {
					before, comes := at[first]
					if !comes || before >= n {
						t.Fatalf("%s needs %s, which comes in wave %d, not before %d", name, first, before, n)
					}
					earliest = max(earliest, before+1)
				}
			}
			if n != earliest {
				t.Fatalf("%s comes in wave %d, and could in %d", name, n, earliest)
			}
		}
	})
}

// drawTopology draws a topology without cycles: links go from lower to higher
// letters.
func drawTopology(t *rapid.T) pod.Topology {
	const letters = "abcdefgh"
	topology := pod.Topology{Name: "t", Version: 1, Nodes: map[string]pod.Node{}}
	size := rapid.IntRange(0, len(letters)).Draw(t, "size")
	for n := range size {
		name := letters[n : n+1]
		topology.Nodes[name] = pod.Node{Kind: pod.KindAgent, Manager: "m", Activation: rapid.SampledFrom([]pod.Activation{pod.Eager, pod.Lazy}).Draw(t, "activation")}
		if n == 0 {
			continue
		}
		other := rapid.IntRange(0, n-1)
		if rapid.Bool().Draw(t, "owned") {
			o := other.Draw(t, "owner")
			topology.Links = append(topology.Links, pod.Link{Type: pod.Owns, From: letters[o : o+1], To: name})
		}
		if rapid.Bool().Draw(t, "depends") {
			o := other.Draw(t, "dependency")
			topology.Links = append(topology.Links, pod.Link{Type: pod.DependsOn, From: name, To: letters[o : o+1]})
		}
	}
	if err := topology.Validate(); err != nil {
		t.Fatal(err)
	}
	return topology
}
