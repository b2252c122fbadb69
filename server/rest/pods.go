package rest

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/instance/pod"
)

type openPodBody struct {
	Topology     document `json:"topology,omitempty" doc:"Of a new pod: {name, nodes, links?, affinity?}; where absent, the member topology of its manager's metadata"`
	InitialState document `json:"initial_state,omitempty" doc:"Of a new pod, beside its slot"`
}

type ensureBody struct {
	InitialState document `json:"initial_state,omitempty" doc:"What that node alone begins with where it is fresh, for what the topology says"`
}

type reconcileBody struct {
	Nodes []string `json:"nodes,omitempty" doc:"To start, with all that they need; the eager ones where absent"`
}

type mutateBody struct {
	Ops anyValue `json:"ops" doc:"[{add_node: {name, node, owner?, depends_on?}} | {remove_node: {name}}]"`
}

type forkPodBody struct {
	Key string `json:"key" doc:"Of the new pod, of the same manager"`
}

// podName names a pod.
type podName struct {
	Manager string `json:"manager"`
	Key     string `json:"key"`
}

// gotPod answers a get.
type gotPod struct {
	podName
	Created         bool           `json:"created"`
	TopologyVersion uint64         `json:"topology_version"`
	Report          pod.Reconciled `json:"report"`
}

// storedPod is a pod as it is stored.
type storedPod struct {
	podName
	Status          agent.InstanceStatus `json:"status" enum:"dormant,waking,awake,draining"`
	TopologyVersion uint64               `json:"topology_version"`
	Topology        anyValue             `json:"topology"`
	Mutation        anyValue             `json:"mutation" doc:"The newest one: its id, status (idle, running, completed, failed), and report"`
}

// storedPodOf returns the document of a pod as it is stored.
func storedPodOf(ref agent.InstanceRef, view pod.View) (stored storedPod, err error) {
	stored = storedPod{podName: podName{ref.Manager, ref.Key}, Status: view.Status, TopologyVersion: view.Slot.TopologyVersion}
	if stored.Topology, err = podJSON(view.Slot.Topology); err != nil {
		return storedPod{}, err
	}
	if stored.Mutation, err = podJSON(view.Slot.Mutation); err != nil {
		return storedPod{}, err
	}
	return stored, nil
}

// podJSON returns v as JSON.
func podJSON(v any) (anyValue, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	return anyValue{document(raw)}, err
}

// gotPodOf returns the document of a pod that was asked for.
func gotPodOf(ref agent.InstanceRef, got pod.Got) gotPod {
	return gotPod{podName{ref.Manager, ref.Key}, got.Created, got.TopologyVersion, got.Report}
}

type podNodes struct {
	Items []pod.Snapshot `json:"items" nullable:"false"`
}

type ensuredNode struct {
	Node   pod.Snapshot   `json:"node"`
	Report pod.Reconciled `json:"report"`
}

func (f *front) routePods() {
	const tag, one = "pods", "/v1/pods/{manager}/{key}"
	register(f, route{
		method: http.MethodPost, path: one, id: "get-or-make-pod", tag: tag, summary: "Get a pod: make it where there is none, and start its eager nodes",
		effect: scoped, creates: true, answers: gotPod{},
	}, (*call).getPod)
	register(f, route{
		method: http.MethodGet, path: one, id: "look-at-pod", tag: tag, summary: "Read a pod as it is stored, without waking it",
		effect: scoped, answers: storedPod{},
	}, (*call).lookAtPod)
	register(f, route{
		method: http.MethodGet, path: one + "/nodes", id: "list-pod-nodes", tag: tag, summary: "Tell how a pod's nodes stand, without waking any",
		effect: scoped, answers: podNodes{},
	}, (*call).podNodes)
	register(f, route{
		method: http.MethodGet, path: one + "/nodes/{name}", id: "get-pod-node", tag: tag, summary: "Tell how one node of a pod stands",
		effect: scoped, answers: pod.Snapshot{},
	}, (*call).podNode)
	register(f, route{
		method: http.MethodPost, path: one + "/nodes/{name}/ensure", id: "ensure-pod-node", tag: tag, summary: "Start a node, after all that it needs",
		effect: scoped, answers: ensuredNode{},
	}, (*call).ensurePodNode)
	register(f, route{
		method: http.MethodPost, path: one + "/reconcile", id: "reconcile-pod", tag: tag, summary: "Start nodes, and adopt those that are awake",
		effect: scoped, answers: pod.Reconciled{},
	}, (*call).reconcilePod)
	register(f, route{
		method: http.MethodPost, path: one + "/mutate", id: "mutate-pod", tag: tag, summary: "Change the topology: stored first, then nodes stop and start",
		effect: scoped, once: true, bodyNeeded: true, answers: mutated{},
	}, (*call).mutatePod)
	register(f, route{
		method: http.MethodPost, path: one + "/hibernate", id: "hibernate-pod", tag: tag, summary: "Stop all nodes and the pod; tells what is stored, at one index",
		effect: scoped, answers: pod.Rested{},
	}, (*call).hibernatePod)
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-pod", tag: tag, summary: "Make another pod of what is stored of this one, at one index",
		effect: scoped, once: true, bodyNeeded: true, answers: pod.Forked{},
	}, (*call).forkPod)
}

// mutated is the report of a mutation.
type mutated struct {
	MutationID      string                 `json:"mutation_id"`
	Status          pod.MutationStatus     `json:"status" enum:"completed,failed"`
	TopologyVersion uint64                 `json:"topology_version"`
	RequestedOps    anyValue               `json:"requested_ops,omitzero"`
	Added           []string               `json:"added"`
	Removed         []string               `json:"removed"`
	Started         []string               `json:"started" doc:"Of those added, those awake now"`
	Stopped         []string               `json:"stopped" doc:"Of those removed, those that are not"`
	Failures        map[string]pod.Failure `json:"failures"`
	Abridged        bool                   `json:"abridged,omitempty" doc:"Lists were left out, they are too long: the pod's mutation has them"`
}

// mutatedOf returns the document of a mutation's report.
func mutatedOf(r pod.Report) (mutated, error) {
	ops, err := podJSON(r.RequestedOps)
	return mutated{
		MutationID: r.MutationID, Status: r.Status, TopologyVersion: r.TopologyVersion, RequestedOps: ops,
		Added: r.Added, Removed: r.Removed, Started: r.Started, Stopped: r.Stopped, Failures: r.Failures, Abridged: r.Abridged,
	}, err
}

// onPod names the pod that a call is about, and who makes calls on it.
func (c *call) onPod() (pod.Pods, agent.InstanceRef, error) {
	host, ref, err := c.onInstance()
	return pod.Pods{Instances: host, Service: c.front.service, Scope: c.scope}, ref, err
}

// reported is what is answered where a pod's call ended with a report: a problem
// that has it where nodes failed.
func reported(report any, err error) error {
	switch agent.CodeOf(err) {
	case agent.CodeReconcileFailed, agent.CodeMutationFailed:
		raw, encoding := json.Marshal(report)
		if encoding != nil {
			return encoding
		}
		return &reportError{error: err, report: raw}
	default:
		return writeOutcome(err)
	}
}

// reportError is a refusal with a report of what was done nonetheless.
type reportError struct {
	error
	report []byte
}

func (e *reportError) Unwrap() error { return e.error }

func (c *call) getPod(body *openPodBody) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	got, err := pods.Get(c.r.Context(), ref, pod.Open{Topology: []byte(body.Topology), InitialState: []byte(body.InitialState)})
	if err != nil {
		return reported(got.Report, err)
	}
	a := reply{body: gotPodOf(ref, got)}
	if got.Created {
		a.location = location("pods", ref.Manager, ref.Key)
	}
	return c.answer(a)
}

func (c *call) lookAtPod(*none) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	view, err := pods.Look(c.r.Context(), ref)
	if err != nil {
		return readOutcome(err)
	}
	stored, err := storedPodOf(ref, view)
	if err != nil {
		return err
	}
	return c.answer(reply{body: stored})
}

func (c *call) podNodes(*none) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	shots, err := pods.Nodes(c.r.Context(), ref)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: podNodes{shots}})
}

func (c *call) podNode(*none) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	shot, err := pods.Node(c.r.Context(), ref, c.id("name"))
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: shot})
}

func (c *call) ensurePodNode(body *ensureBody) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	shot, report, err := pods.Ensure(c.r.Context(), ref, c.id("name"), agent.JSON(body.InitialState))
	if err != nil {
		return reported(report, err)
	}
	return c.answer(reply{body: ensuredNode{shot, report}})
}

func (c *call) reconcilePod(body *reconcileBody) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	report, err := pods.Reconcile(c.r.Context(), ref, body.Nodes...)
	if err != nil {
		return reported(report, err)
	}
	return c.answer(reply{body: report})
}

func (c *call) mutatePod(body *mutateBody) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	report, err := pods.Mutate(c.r.Context(), ref, agent.JSON(body.Ops.document), c.request)
	if err != nil {
		return reported(report, err)
	}
	out, err := mutatedOf(report)
	if err != nil {
		return err
	}
	return c.answer(reply{body: out})
}

func (c *call) hibernatePod(*none) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	rested, err := pods.Hibernate(c.r.Context(), ref)
	if err != nil {
		return reported(rested, err)
	}
	return c.answer(reply{body: rested})
}

func (c *call) forkPod(body *forkPodBody) error {
	pods, ref, err := c.onPod()
	if err != nil {
		return err
	}
	forked, err := pods.Fork(c.r.Context(), ref, body.Key, c.request)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: forked})
}
