package rest

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/instance/pod"
)

func routePods(f *api) {
	const tag, one = "pods", "/v1/pods/{manager}/{key}"
	register(f, route{
		method: http.MethodPost, path: one, id: "get-or-make-pod", tag: tag, summary: "Get or create a pod, and start its eager nodes",
		effect: scoped, creates: true, answers: document.GotPod{},
	}, getPod)
	register(f, route{
		method: http.MethodGet, path: one, id: "look-at-pod", tag: tag, summary: "Read a pod as it is stored, without waking it",
		effect: scoped, answers: document.StoredPod{},
	}, lookAtPod)
	register(f, route{
		method: http.MethodGet, path: one + "/nodes", id: "list-pod-nodes", tag: tag, summary: "Read the status of a pod's nodes, without waking any",
		effect: scoped, answers: document.PodNodes{},
	}, podNodes)
	register(f, route{
		method: http.MethodGet, path: one + "/nodes/{name}", id: "get-pod-node", tag: tag, summary: "Read the status of one node of a pod",
		effect: scoped, answers: pod.Snapshot{},
	}, podNode)
	register(f, route{
		method: http.MethodPost, path: one + "/nodes/{name}/ensure", id: "ensure-pod-node", tag: tag, summary: "Start a node, after the nodes that it needs",
		effect: scoped, answers: document.EnsuredNode{},
	}, ensurePodNode)
	register(f, route{
		method: http.MethodPost, path: one + "/reconcile", id: "reconcile-pod", tag: tag, summary: "Start nodes, and adopt those that are awake",
		effect: scoped, answers: pod.Reconciled{},
	}, reconcilePod)
	register(f, route{
		method: http.MethodPost, path: one + "/mutate", id: "mutate-pod", tag: tag, summary: "Change the topology: it is stored first, then nodes stop and start",
		effect: scoped, once: true, bodyNeeded: true, answers: document.Mutated{},
	}, mutatePod)
	register(f, route{
		method: http.MethodPost, path: one + "/hibernate", id: "hibernate-pod", tag: tag, summary: "Stop all nodes and the pod; returns what is stored, at one index",
		effect: scoped, answers: pod.Rested{},
	}, hibernatePod)
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-pod", tag: tag, summary: "Fork a pod from what is stored, at one index",
		effect: scoped, once: true, bodyNeeded: true, answers: pod.Forked{},
	}, forkPod)
}

// onPod returns the pod in the path, and the service to call it.
func onPod(c *request) (pod.Pods, agent.InstanceRef, error) {
	host, ref, err := onInstance(c)
	return pod.Pods{Instances: host, Service: c.api.service, Scope: c.scope}, ref, err
}

// reported returns the error of a pod's call that ended with a report: a problem with the report if
// nodes failed.
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

func getPod(c *request, body *document.OpenPodBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	got, err := pods.Get(c.ctx, ref, pod.Open{Topology: []byte(body.Topology), InitialState: []byte(body.InitialState)})
	if err != nil {
		return reported(got.Report, err)
	}
	a := reply{body: document.GotPodOf(ref, got)}
	if got.Created {
		a.location = location("pods", ref.Manager, ref.Key)
	}
	return c.answer(a)
}

func lookAtPod(c *request, _ *none) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	view, err := pods.Lookup(c.ctx, ref)
	if err != nil {
		return readOutcome(err)
	}
	stored, err := document.StoredPodOf(ref, view)
	if err != nil {
		return err
	}
	return c.answer(reply{body: stored})
}

func podNodes(c *request, _ *none) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	shots, err := pods.Nodes(c.ctx, ref)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: document.PodNodes{Items: shots}})
}

func podNode(c *request, _ *none) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	shot, err := pods.Node(c.ctx, ref, c.id("name"))
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: shot})
}

func ensurePodNode(c *request, body *document.EnsureBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	shot, report, err := pods.Ensure(c.ctx, ref, c.id("name"), agent.JSON(body.InitialState))
	if err != nil {
		return reported(report, err)
	}
	return c.answer(reply{body: document.EnsuredNode{Node: shot, Report: report}})
}

func reconcilePod(c *request, body *document.ReconcileBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	report, err := pods.Reconcile(c.ctx, ref, body.Nodes...)
	if err != nil {
		return reported(report, err)
	}
	return c.answer(reply{body: report})
}

func mutatePod(c *request, body *document.MutateBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	report, err := pods.Mutate(c.ctx, ref, agent.JSON(body.Ops.JSON), c.request)
	if err != nil {
		return reported(report, err)
	}
	out, err := document.MutatedOf(report)
	if err != nil {
		return err
	}
	return c.answer(reply{body: out})
}

func hibernatePod(c *request, _ *none) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	rested, err := pods.Hibernate(c.ctx, ref)
	if err != nil {
		return reported(rested, err)
	}
	return c.answer(reply{body: rested})
}

func forkPod(c *request, body *document.ForkPodBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	forked, err := pods.Fork(c.ctx, ref, body.Key, c.request)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: forked})
}
