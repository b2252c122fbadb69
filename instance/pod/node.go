package pod

import (
	"net/url"
	"slices"
	"strings"

	"dormouse/agent"
)

// Parent is the parent of a node: its pod, or the node of the pod that owns it.
type Parent struct {
	Manager string `json:"manager"` // of the pod
	Key     string `json:"key"`     // of the pod
	Node    string `json:"node,omitempty"`
}

// Status is the status of a node within its pod.
type Status string

// The statuses of nodes.
const (
	Adopted   Status = "adopted"   // awake, with the parent that the topology names
	Running   Status = "running"   // awake, without a parent
	Misplaced Status = "misplaced" // awake, with another parent: it cannot be adopted
	Stopped   Status = "stopped"   // known, and not awake
)

// StatusOf returns the status of a node from its current parent, or nil, and
// the parent that the topology expects.
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

// ParentOf returns the parent that the topology expects for a node.
func (t Topology) ParentOf(pod agent.InstanceRef, node string) Parent {
	owner, _ := t.Owner(node)
	return Parent{Manager: pod.Manager, Key: pod.Key, Node: owner}
}

// Roots returns the nodes whose parent is the pod itself. A pod that wakes
// again adopts them; other nodes keep their parents.
func (t Topology) Roots() []string {
	return slices.DeleteFunc(t.names(), func(name string) bool { _, owned := t.Owner(name); return owned })
}

// NodeRef returns the instance of a node. Its key has the escaped names of the
// pod and the node, so all keys are distinct. Its scope is the pod's.
func (t Topology) NodeRef(pod agent.InstanceRef, node string) (agent.InstanceRef, error) {
	n, exists := t.Nodes[node]
	if !exists {
		return agent.InstanceRef{}, errUnknownNode(node, t)
	}
	return t.RefOf(pod, node, n)
}

// RefOf is NodeRef for a node that may have been removed from the topology.
func (t Topology) RefOf(pod agent.InstanceRef, node string, n Node) (agent.InstanceRef, error) {
	prefix := keyPrefix
	if t.Affinity {
		prefix = affinityKeyPrefix
	}
	key := prefix + strings.Join([]string{url.PathEscape(pod.Manager), url.PathEscape(pod.Key), url.PathEscape(node)}, "/")
	ref := agent.InstanceRef{Scope: pod.Scope, Manager: n.Manager, Key: key}
	return ref, ref.Validate()
}

// Prefixes of the keys of nodes.
const (
	keyPrefix         = "pod/" // each node has a partition of its own
	affinityKeyPrefix = "at/"  // nodes share the pod's partition; package placement uses the prefix too
)

// ParseKey returns the pod and the name of the node with this key, or false if
// the key is not a node's.
func ParseKey(scope, key string) (pod agent.InstanceRef, node string, ok bool) {
	rest, found := strings.CutPrefix(key, keyPrefix)
	if !found {
		rest, found = strings.CutPrefix(key, affinityKeyPrefix)
	}
	parts := strings.Split(rest, "/")
	if !found || len(parts) != 3 {
		return agent.InstanceRef{}, "", false
	}
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil || plain == "" {
			return agent.InstanceRef{}, "", false
		}
		parts[i] = plain
	}
	return agent.InstanceRef{Scope: scope, Manager: parts[0], Key: parts[1]}, parts[2], true
}

// Ancestry returns the managers of a pod and of the pods that contain it, the
// outermost first. The pod's key determines them.
func Ancestry(pod agent.InstanceRef) []string {
	managers := []string{pod.Manager}
	for at, _, ok := ParseKey(pod.Scope, pod.Key); ok; at, _, ok = ParseKey(at.Scope, at.Key) {
		managers = append(managers, at.Manager)
	}
	slices.Reverse(managers)
	return managers
}

// CheckNested refuses a topology with a nested pod that contains this one.
func (t Topology) CheckNested(pod agent.InstanceRef) error {
	ancestry := Ancestry(pod)
	for _, name := range t.names() {
		if n := t.Nodes[name]; n.Kind == KindPod {
			if err := CheckRecursion(ancestry, n.Manager); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckRecursion returns an error if the manager of a nested pod is in
// ancestry: the pod would contain itself.
func CheckRecursion(ancestry []string, manager string) error {
	if !slices.Contains(ancestry, manager) {
		return nil
	}
	path := append(slices.Clone(ancestry), manager)
	return agent.Invalid("topology.nodes", "a pod contains itself: %s", strings.Join(path, " > "))
}
