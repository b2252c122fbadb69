package document

import (
	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// OpenPodBody opens a pod.
type OpenPodBody struct {
	Topology     JSON `json:"topology,omitempty" doc:"Of a new pod: {name, nodes, links?, affinity?}; if absent, the member topology of its manager's metadata"`
	InitialState JSON `json:"initial_state,omitempty" doc:"Of a new pod; the slot of the pod is added to it"`
}

// EnsureBody starts one node of a pod.
type EnsureBody struct {
	InitialState JSON `json:"initial_state,omitempty" doc:"The initial state of this node if it is new, instead of the topology's"`
}

// ReconcileBody starts nodes of a pod.
type ReconcileBody struct {
	Nodes []string `json:"nodes,omitempty" doc:"Nodes to start, with all that they depend on; the eager ones if absent"`
}

// MutateBody changes the topology of a pod.
type MutateBody struct {
	Ops AnyValue `json:"ops" doc:"[{add_node: {name, node, owner?, depends_on?}} | {remove_node: {name}}]"`
}

// ForkPodBody names the fork of a pod.
type ForkPodBody struct {
	Key string `json:"key" doc:"Of the new pod, of the same manager"`
}

// podName names a pod.
type podName struct {
	Manager string `json:"manager"`
	Key     string `json:"key"`
}

// GotPod is the result of opening a pod.
type GotPod struct {
	podName
	Created         bool           `json:"created"`
	TopologyVersion uint64         `json:"topology_version"`
	Report          pod.Reconciled `json:"report"`
}

// StoredPod is a stored pod.
type StoredPod struct {
	podName
	Status          agent.InstanceStatus `json:"status" enum:"dormant,waking,awake,draining"`
	TopologyVersion uint64               `json:"topology_version"`
	Topology        AnyValue             `json:"topology"`
	Mutation        AnyValue             `json:"mutation" doc:"The newest one: its id, status (idle, running, completed, failed), and report"`
}

// StoredPodOf returns the document of a stored pod.
func StoredPodOf(ref agent.InstanceRef, view pod.View) (stored StoredPod, err error) {
	stored = StoredPod{podName: podName{ref.Manager, ref.Key}, Status: view.Status, TopologyVersion: view.Slot.TopologyVersion}
	if stored.Topology, err = podJSON(view.Slot.Topology); err != nil {
		return StoredPod{}, err
	}
	if stored.Mutation, err = podJSON(view.Slot.Mutation); err != nil {
		return StoredPod{}, err
	}
	return stored, nil
}

// podJSON returns v as JSON.
func podJSON(v any) (AnyValue, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	return AnyValue{JSON(raw)}, err
}

// GotPodOf returns the document of an opened pod.
func GotPodOf(ref agent.InstanceRef, got pod.GetResult) GotPod {
	return GotPod{podName{ref.Manager, ref.Key}, got.Created, got.TopologyVersion, got.Report}
}

// PodNodes lists the nodes of a pod.
type PodNodes struct {
	Items []pod.Snapshot `json:"items" nullable:"false"`
}

// EnsuredNode is the result of starting a node.
type EnsuredNode struct {
	Node   pod.Snapshot   `json:"node"`
	Report pod.Reconciled `json:"report"`
}

// Mutated is the report of a mutation.
type Mutated struct {
	MutationID      string                 `json:"mutation_id"`
	Status          pod.MutationStatus     `json:"status" enum:"completed,failed"`
	TopologyVersion uint64                 `json:"topology_version"`
	RequestedOps    AnyValue               `json:"requested_ops,omitzero"`
	Added           []string               `json:"added"`
	Removed         []string               `json:"removed"`
	Started         []string               `json:"started" doc:"Added nodes that are awake now"`
	Stopped         []string               `json:"stopped" doc:"Removed nodes that are no longer awake"`
	Failures        map[string]pod.Failure `json:"failures"`
	Abridged        bool                   `json:"abridged,omitempty" doc:"Lists were left out because they are too long: the pod's mutation has them"`
}

// MutatedOf returns the document of a mutation's report.
func MutatedOf(r pod.Report) (Mutated, error) {
	ops, err := podJSON(r.RequestedOps)
	return Mutated{
		MutationID: r.MutationID, Status: r.Status, TopologyVersion: r.TopologyVersion, RequestedOps: ops,
		Added: r.Added, Removed: r.Removed, Started: r.Started, Stopped: r.Stopped, Failures: r.Failures, Abridged: r.Abridged,
	}, err
}
