package pod

import (
	"fmt"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// OpsMax is the maximum number of ops in one mutation.
const OpsMax = 256

// Op is one change of a mutation. Exactly one member is set.
type Op struct {
	AddNode    *AddNode    `json:"add_node,omitempty"`
	RemoveNode *RemoveNode `json:"remove_node,omitempty"`
}

// AddNode adds a node, with an owner if Owner is set.
type AddNode struct {
	Name      string   `json:"name"`
	Node      Node     `json:"node"`
	Owner     string   `json:"owner,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
}

// RemoveNode removes a node, all nodes that it owns, and their links.
type RemoveNode struct {
	Name string `json:"name"`
}

// Plan is the result of a mutation: the new topology, and the nodes to start
// and stop. The topology no longer has the removed nodes, so the plan keeps
// them.
type Plan struct {
	Topology Topology
	Added    []string        // sorted
	Removed  map[string]Node // :: name → node
	Start    []string        // the eager nodes of Added, sorted
	Stop     [][]string      // Removed in waves: a node stops before the nodes that it needs
}

// decodeAs decodes the value of the member name into body, a document of that member only, so that
// errors name what is wrong in it.
func decodeAs(name string, value agent.JSON, body any) error {
	err := strictjson.Unmarshal(fmt.Appendf(nil, `{"%s":%s}`, name, value), body)
	if err == nil {
		return nil
	}
	_, why := strictjson.Explain(err, name)
	return agent.Invalid(name, "%s", why)
}

// ParseOps decodes and validates a mutation's ops. Errors are *agent.Error.
func ParseOps(raw agent.JSON) ([]Op, error) {
	compact, err := agent.Compact(raw)
	if err != nil {
		return nil, err
	}
	var body struct {
		Ops []Op `json:"ops"`
	}
	if err := decodeAs("ops", compact, &body); err != nil {
		return nil, err
	}
	return body.Ops, nil
}

// Plan returns the result of applying all ops in order, or an error. Ops may
// not touch a node twice; a removal touches all nodes that it removes. The
// version grows by one, unless there are no ops.
func (t Topology) Plan(ops []Op) (Plan, error) {
	if len(ops) > OpsMax {
		return Plan{}, agent.TooLarge("ops", "pod_ops_max", len(ops), OpsMax)
	}
	p := planner{before: t, plan: Plan{Topology: t.clone(), Removed: map[string]Node{}}, touched: map[string]bool{}}
	for _, op := range ops {
		if err := p.apply(op); err != nil {
			return Plan{}, err
		}
	}
	return p.finish(len(ops) > 0)
}

// planner is a Plan in progress.
type planner struct {
	before  Topology
	plan    Plan
	touched map[string]bool
}

func (p *planner) apply(op Op) error {
	switch {
	case op.AddNode != nil && op.RemoveNode == nil:
		return p.add(op.AddNode)
	case op.RemoveNode != nil && op.AddNode == nil:
		return p.remove(op.RemoveNode.Name)
	default:
		return agent.Invalid("ops", "an op must have exactly one of add_node and remove_node")
	}
}

func (p *planner) add(op *AddNode) error {
	if err := p.touch(op.Name); err != nil {
		return err
	}
	t := &p.plan.Topology
	if _, exists := t.Nodes[op.Name]; exists {
		return agent.Invalid("ops", "node %q already exists: choose another name, or remove it first in a separate mutation", op.Name)
	}
	t.Nodes[op.Name] = op.Node.withDefaults()
	if op.Owner != "" {
		t.Links = append(t.Links, Link{Type: Owns, From: op.Owner, To: op.Name})
	}
	for _, other := range op.DependsOn {
		t.Links = append(t.Links, Link{Type: DependsOn, From: op.Name, To: other})
	}
	p.plan.Added = append(p.plan.Added, op.Name)
	return nil
}

func (p *planner) remove(name string) error {
	t := &p.plan.Topology
	if _, exists := t.Nodes[name]; !exists && !p.touched[name] {
		return errUnknownNode(name, p.before)
	}
	for _, removed := range t.Subtree(name) {
		if err := p.touch(removed); err != nil {
			return err
		}
		p.plan.Removed[removed] = t.Nodes[removed]
		delete(t.Nodes, removed)
	}
	t.Links = slices.DeleteFunc(t.Links, func(l Link) bool {
		_, from := t.Nodes[l.From]
		_, to := t.Nodes[l.To]
		return p.touched[l.From] && !from || p.touched[l.To] && !to
	})
	return nil
}

func (p *planner) touch(name string) error {
	if p.touched[name] {
		return agent.Invalid("ops", "the ops touch node %q twice: use two mutations", name)
	}
	p.touched[name] = true
	return nil
}

func (p *planner) finish(changed bool) (Plan, error) {
	plan := p.plan
	plan.Topology = plan.Topology.withDefaults()
	if changed {
		plan.Topology.Version = p.before.Version + 1
	}
	if err := plan.Topology.Validate(); err != nil {
		return Plan{}, err
	}
	if _, err := plan.Topology.Waves(plan.Topology.names()); err != nil {
		return Plan{}, err
	}
	slices.Sort(plan.Added)
	for _, name := range plan.Added {
		if plan.Topology.Nodes[name].Activation == Eager {
			plan.Start = append(plan.Start, name)
		}
	}
	var err error
	plan.Stop, err = p.before.StopWaves(plan.Removed)
	return plan, err
}

// StopWaves returns nodes in the order in which they stop, the reverse of the
// order in which they start.
func (t Topology) StopWaves(nodes map[string]Node) ([][]string, error) {
	waves, err := t.Waves(slices.Sorted(maps.Keys(nodes)))
	if err != nil {
		return nil, err
	}
	var stops [][]string
	for _, wave := range slices.Backward(waves) {
		wave = slices.DeleteFunc(wave, func(name string) bool { _, goes := nodes[name]; return !goes })
		if len(wave) > 0 {
			stops = append(stops, wave)
		}
	}
	return stops, nil
}

// Replace returns the topology that replaces t. Its version is t's if the
// structure (nodes, links, managers, activations) is the same, and the next one
// otherwise. Meta and defaults do not count as structure.
func (t Topology) Replace(by Topology) (Topology, error) {
	next := by.withDefaults()
	if err := next.Validate(); err != nil {
		return Topology{}, err
	}
	if next.Affinity != t.Affinity {
		return Topology{}, agent.Invalid("topology.affinity", "affinity cannot change: it determines the keys of the nodes")
	}
	next.Version = t.Version
	if !t.sameStructure(next) {
		next.Version++
	}
	return next, nil
}

// sameStructure reports whether two topologies have the same structure.
func (t Topology) sameStructure(other Topology) bool {
	same := maps.EqualFunc(t.Nodes, other.Nodes, func(a, b Node) bool {
		return a.Kind == b.Kind && a.Manager == b.Manager && a.Activation == b.Activation
	})
	return same && maps.Equal(t.linkKeys(), other.linkKeys())
}

func (t Topology) linkKeys() map[linkKey]bool {
	ties := make(map[linkKey]bool, len(t.Links))
	for _, l := range t.Links {
		ties[l.key()] = true
	}
	return ties
}

// clone returns a topology with its own nodes and links.
func (t Topology) clone() Topology {
	t.Nodes = maps.Clone(t.Nodes)
	if t.Nodes == nil {
		t.Nodes = map[string]Node{}
	}
	t.Links = slices.Clone(t.Links)
	return t
}
