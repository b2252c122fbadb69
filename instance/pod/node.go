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
		return agent.InstanceRef{}, errUnknownNode(node, t)
	}
	return t.RefOf(pod, node, n)
}

// RefOf is NodeRef of a node that the topology may have no longer.
func (t Topology) RefOf(pod agent.InstanceRef, node string, n Node) (agent.InstanceRef, error) {
	prefix := keyPrefix
	if t.Affinity {
		prefix = affinityKeyPrefix
	}
	key := prefix + strings.Join([]string{url.PathEscape(pod.Manager), url.PathEscape(pod.Key), url.PathEscape(node)}, "/")
	ref := agent.InstanceRef{Scope: pod.Scope, Manager: n.Manager, Key: key}
	return ref, ref.Validate()
}

// What keys of nodes begin with.
const (
	keyPrefix         = "pod/" // a partition of the node's own
	affinityKeyPrefix = "at/"  // the pod's partition: package placement knows it too
)

// PodOfKey is the pod that the instance under a key is a node of, and the node's
// name; false where the key is none of a node's.
func PodOfKey(scope, key string) (pod agent.InstanceRef, node string, ok bool) {
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

// Ancestry is the managers of a pod and of the pods that it is nested in, the
// outermost first: the pod's key says which.
func Ancestry(pod agent.InstanceRef) []string {
	managers := []string{pod.Manager}
	for at, _, ok := PodOfKey(pod.Scope, pod.Key); ok; at, _, ok = PodOfKey(at.Scope, at.Key) {
		managers = append(managers, at.Manager)
	}
	slices.Reverse(managers)
	return managers
}

// CheckNested refuses a topology that has nodes which are pods that hold this
// one.
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

// CheckRecursion tells that a nested pod would hold itself: its manager is among
// those of the pods that it is nested in, the outermost first.
func CheckRecursion(ancestry []string, manager string) error {
	if !slices.Contains(ancestry, manager) {
		return nil
	}
	path := append(slices.Clone(ancestry), manager)
	return agent.Invalid("topology.nodes", "pods hold themselves: %s", strings.Join(path, " > "))
}
