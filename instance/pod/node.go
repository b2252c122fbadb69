package pod

import (
	"net/url"
	"slices"
	"strings"

	"dormouse/agent"
)

// Parent is whom a node hangs under: its pod, or the node of the pod that owns
// it. A node's state keeps it, so that an orphan remembers where it came from.
type Parent struct {
	Manager string `json:"manager"` // of the pod
	Key     string `json:"key"`     // of the pod
	Node    string `json:"node,omitempty"`
}

// Status says how a node stands to its pod.
type Status string

// The statuses of nodes.
const (
	Adopted   Status = "adopted"   // awake, under the parent that the topology names
	Running   Status = "running"   // awake, under nobody
	Misplaced Status = "misplaced" // awake, under another: it is not to be taken
	Stopped   Status = "stopped"   // known, and not awake
)

// StatusOf is the status of a node that is awake or not, under the parent that
// it has or none, where the topology expects another or the same.
func StatusOf(awake bool, actual *Parent, expected Parent) Status {
	switch {
	case !awake:
		return Stopped
	case actual == nil:
		return Running
	case *actual == expected:
		return Adopted
	default:
		return Misplaced
	}
}

// ParentOf is whom a node of a pod is to hang under.
func (t Topology) ParentOf(pod agent.InstanceRef, node string) Parent {
	owner, _ := t.Owner(node)
	return Parent{Manager: pod.Manager, Key: pod.Key, Node: owner}
}

// Roots are the nodes that hang under the pod itself: a pod that comes back
// adopts them, and each of them has kept its own.
func (t Topology) Roots() []string {
	return slices.DeleteFunc(t.names(), func(name string) bool { _, owned := t.Owner(name); return owned })
}

// NodeRef is the instance that a node of a pod is, in its own manager. Pod and
// node are escaped in its key, so that no two nodes share one; the scope is the
// pod's.
func (t Topology) NodeRef(pod agent.InstanceRef, node string) (agent.InstanceRef, error) {
	n, there := t.Nodes[node]
	if !there {
		return agent.InstanceRef{}, unknownNode(node, t)
	}
	return n.Ref(pod, node)
}

// Ref is NodeRef of a node that the topology may have no longer.
func (n Node) Ref(pod agent.InstanceRef, node string) (agent.InstanceRef, error) {
	key := strings.Join([]string{"pod", url.PathEscape(pod.Manager), url.PathEscape(pod.Key), url.PathEscape(node)}, "/")
	return agent.InstanceRef{Scope: pod.Scope, Manager: n.Manager, Key: key}, agent.ValidID("node", key)
}

// Recursive tells that a nested pod would hold itself: its manager is among
// those of the pods that it is nested in, the outermost first.
func Recursive(ancestry []string, manager string) error {
	if !slices.Contains(ancestry, manager) {
		return nil
	}
	path := append(slices.Clone(ancestry), manager)
	return agent.Invalid("topology.nodes", "pods hold themselves: %s", strings.Join(path, " > "))
}
