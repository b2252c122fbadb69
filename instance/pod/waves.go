package pod

import (
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
)

// Waves returns the order in which the requested nodes and all nodes that they
// need start. A node needs its owner and its dependencies. Each node is in the
// earliest possible wave after those that it needs. The nodes of a wave are
// sorted and may start concurrently. A cycle is invalid, and an unknown name is
// not_found.
func (t Topology) Waves(requested []string) ([][]string, error) {
	needs, err := t.closure(requested)
	if err != nil {
		return nil, err
	}
	var waves [][]string
	for started := make(map[string]bool, len(needs)); len(started) < len(needs); {
		var wave []string
		for name, before := range needs {
			if !started[name] && !slices.ContainsFunc(before, func(b string) bool { return !started[b] }) {
				wave = append(wave, name)
			}
		}
		if len(wave) == 0 {
			return nil, errCycle(needs, started)
		}
		slices.Sort(wave)
		waves = append(waves, wave)
		for _, name := range wave {
			started[name] = true
		}
	}
	return waves, nil
}

// closure returns the requested nodes and all that they need: node → the nodes
// that must start before it.
func (t Topology) closure(requested []string) (map[string][]string, error) {
	direct := t.prerequisites()
	needs := make(map[string][]string)
	for todo := slices.Clone(requested); len(todo) > 0; {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := needs[name]; known {
			continue
		}
		if _, exists := t.Nodes[name]; !exists {
			return nil, errUnknownNode(name, t)
		}
		needs[name] = direct[name]
		todo = append(todo, direct[name]...)
	}
	return needs, nil
}

// prerequisites returns the nodes that each node needs directly.
func (t Topology) prerequisites() map[string][]string {
	direct := make(map[string][]string, len(t.Nodes))
	for _, l := range t.Links {
		switch l.Type {
		case Owns:
			direct[l.To] = append(direct[l.To], l.From)
		case DependsOn:
			direct[l.From] = append(direct[l.From], l.To)
		}
	}
	return direct
}

func errUnknownNode(name string, t Topology) *agent.Error {
	e := agent.Errorf(agent.CodeNotFound, "topology %q has no node %q; it has %s", t.Name, name, strings.Join(t.names(), ", "))
	e.Field = "node"
	return e
}

func errCycle(needs map[string][]string, started map[string]bool) *agent.Error {
	maps.DeleteFunc(needs, func(name string, _ []string) bool { return started[name] })
	left := slices.Sorted(maps.Keys(needs))
	return agent.Invalid("topology.links", "nodes %s depend on each other: break the cycle", strings.Join(left, ", "))
}

// Subtree returns a node and all nodes that it owns, directly or not. Owners
// come first.
func (t Topology) Subtree(name string) []string {
	tree := []string{name}
	for i := 0; i < len(tree); i++ {
		var owned []string
		for _, l := range t.Links {
			if l.Type == Owns && l.From == tree[i] && !slices.Contains(tree, l.To) {
				owned = append(owned, l.To)
			}
		}
		slices.Sort(owned)
		tree = append(tree, owned...)
	}
	return tree
}
