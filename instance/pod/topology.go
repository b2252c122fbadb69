package pod

import (
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// Limits of a topology.
const (
	NodesMax = agent.ReadsMax - 2 // nodes of one pod: one request can read all of them at one index
	LinksMax = 8 * NodesMax       // links of one pod
)

// Topology is the structure of a pod. Version counts its structural changes,
// from 1.
type Topology struct {
	Name     string          `json:"name"`
	Version  uint64          `json:"version"`
	Nodes    map[string]Node `json:"nodes"` // :: name → node
	Links    []Link          `json:"links"`
	Defaults jsontext.Value  `json:"defaults,omitempty"`
	Affinity bool            `json:"affinity,omitempty"` // nodes share the pod's partition; cannot change
}

// Node is one node of a pod: an instance, or a nested pod.
type Node struct {
	Kind         Kind           `json:"kind"`
	Manager      string         `json:"manager"` // of its instance
	Activation   Activation     `json:"activation"`
	Meta         jsontext.Value `json:"meta,omitempty"`
	InitialState jsontext.Value `json:"initial_state,omitempty"` // of a fresh instance
}

// Kind is the kind of a node.
type Kind string

// The kinds of nodes.
const (
	KindAgent Kind = "agent"
	KindPod   Kind = "pod"
)

// Activation says when a node starts.
type Activation string

// The activations.
const (
	Eager Activation = "eager" // with its pod
	Lazy  Activation = "lazy"  // when it is requested
)

// Link connects two nodes of a pod.
type Link struct {
	Type LinkType       `json:"type"`
	From string         `json:"from"`
	To   string         `json:"to"`
	Meta jsontext.Value `json:"meta,omitempty"`
}

// LinkType is the type of a link.
type LinkType string

// The types of links.
const (
	DependsOn LinkType = "depends_on" // From starts after To
	Owns      LinkType = "owns"       // From is the parent of To, and starts first
)

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It also accepts the short
// form ["depends_on", from, to].
func (l *Link) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		var short [3]string
		if err := json.UnmarshalDecode(d, &short); err != nil {
			return err
		}
		*l = Link{Type: LinkType(short[0]), From: short[1], To: short[2]}
		return nil
	}
	type long Link // without UnmarshalJSONFrom
	return json.UnmarshalDecode(d, (*long)(l), json.RejectUnknownMembers(true))
}

// Parse decodes and validates a topology. It fills in the defaults (version 1,
// kind agent, activation lazy) and drops repeated links. Errors are
// *agent.Error that name the field.
func Parse(raw agent.JSON) (Topology, error) {
	compact, err := agent.CompactObject("topology", raw)
	if err != nil {
		return Topology{}, err
	}
	var body struct {
		Topology Topology `json:"topology"`
	}
	if err := decodeAs("topology", compact, &body); err != nil {
		return Topology{}, err
	}
	t := body.Topology.withDefaults()
	return t, t.Validate()
}

// withDefaults returns the topology with its defaults filled in and repeated
// links dropped.
func (t Topology) withDefaults() Topology {
	out := t
	out.Version = max(t.Version, 1)
	out.Nodes = make(map[string]Node, len(t.Nodes))
	for name, n := range t.Nodes {
		out.Nodes[name] = n.withDefaults()
	}
	out.Links = nil
	exists := make(map[linkKey]bool, len(t.Links))
	for _, l := range t.Links {
		if !exists[l.key()] {
			exists[l.key()] = true
			out.Links = append(out.Links, l)
		}
	}
	return out
}

func (n Node) withDefaults() Node {
	if n.Kind == "" {
		n.Kind = KindAgent
	}
	if n.Activation == "" {
		n.Activation = Lazy
	}
	return n
}

// linkKey identifies a link.
type linkKey struct {
	kind     LinkType
	from, to string
}

func (l Link) key() linkKey { return linkKey{kind: l.Type, from: l.From, to: l.To} }

var nameForm = regexp.MustCompile(`^[A-Za-z]\w*$`)

// Validate reports the first error of a topology. It refuses invalid names,
// nodes without a manager, links to a missing node or to itself, nodes with two
// owners, and cycles of owners. Waves reports cycles of dependencies.
func (t Topology) Validate() error {
	if !nameForm.MatchString(t.Name) {
		return agent.Invalid("topology.name", "a topology's name begins with a letter and has letters, digits and _ only, not %q", t.Name)
	}
	if len(t.Nodes) > NodesMax {
		return agent.TooLarge("topology.nodes", "pod_nodes_max", len(t.Nodes), NodesMax)
	}
	if len(t.Links) > LinksMax {
		return agent.TooLarge("topology.links", "pod_links_max", len(t.Links), LinksMax)
	}
	for _, name := range t.names() {
		if err := t.Nodes[name].validate(name); err != nil {
			return err
		}
	}
	for _, l := range t.Links {
		if err := t.validateLink(l); err != nil {
			return err
		}
	}
	return t.validateOwners()
}

func (n Node) validate(name string) error {
	field := "topology.nodes." + name
	switch {
	case name == "":
		return agent.Invalid("topology.nodes", "a node has no name: give it one")
	case agent.ValidID(field, name) != nil:
		return agent.ValidID(field, name)
	case n.Kind != KindAgent && n.Kind != KindPod:
		return agent.Invalid(field+".kind", "node %q is of kind %q: it must be %q or %q", name, n.Kind, KindAgent, KindPod)
	case n.Activation != Eager && n.Activation != Lazy:
		return agent.Invalid(field+".activation", "node %q has activation %q: it must be %q or %q", name, n.Activation, Eager, Lazy)
	case n.Manager == "":
		return agent.Invalid(field+".manager", "node %q has no manager: name the manager of its instance", name)
	}
	return agent.ValidID(field+".manager", n.Manager)
}

func (t Topology) validateLink(l Link) error {
	if l.Type != DependsOn && l.Type != Owns {
		return agent.Invalid("topology.links", "a link is of type %q: it must be %q or %q", l.Type, DependsOn, Owns)
	}
	for _, end := range []string{l.From, l.To} {
		if _, exists := t.Nodes[end]; !exists {
			return agent.Invalid("topology.links", "a link names node %q, which is not in the topology", end)
		}
	}
	if l.From == l.To {
		return agent.Invalid("topology.links", "node %q is linked to itself", l.From)
	}
	return nil
}

// validateOwners refuses nodes with two owners, and cycles of owners.
func (t Topology) validateOwners() error {
	owners := make(map[string]string)
	for _, l := range t.Links {
		if l.Type != Owns {
			continue
		}
		if other, owned := owners[l.To]; owned && other != l.From {
			return agent.Invalid("topology.links", "node %q has two owners, %q and %q: keep one", l.To, other, l.From)
		}
		owners[l.To] = l.From
	}
	for _, name := range t.names() {
		at := name
		for range len(owners) {
			next, owned := owners[at]
			if !owned {
				break
			}
			if at = next; at == name {
				return agent.Invalid("topology.links", "node %q owns itself through other nodes: break the cycle", name)
			}
		}
	}
	return nil
}

// Names returns the names of the nodes, sorted.
func (t Topology) Names() []string { return t.names() }

func (t Topology) names() []string {
	names := make([]string, 0, len(t.Nodes))
	for name := range t.Nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Owner returns the node that owns another; false means that its parent is the
// pod.
func (t Topology) Owner(name string) (owner string, ok bool) {
	for _, l := range t.Links {
		if l.Type == Owns && l.To == name {
			return l.From, true
		}
	}
	return "", false
}

// Eager returns the eager nodes, sorted.
func (t Topology) Eager() []string {
	return slices.DeleteFunc(t.names(), func(name string) bool { return t.Nodes[name].Activation != Eager })
}
