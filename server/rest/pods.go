package rest

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/instance/pod"
	"dormouse/server/rest/web"
)

func routePods(f *web.API) {
	const tag, one = "pods", "/v1/pods/{manager}/{key}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one, ID: "get-or-make-pod", Tag: tag, Summary: "Get or create a pod, and start its eager nodes",
		Effect: web.Scoped, Creates: true, Answers: document.GotPod{},
	}, getPod)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "look-at-pod", Tag: tag, Summary: "Read a pod as it is stored, without waking it",
		Effect: web.Scoped, Answers: document.StoredPod{},
	}, lookAtPod)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/nodes", ID: "list-pod-nodes", Tag: tag, Summary: "Read the status of a pod's nodes, without waking any",
		Effect: web.Scoped, Answers: document.PodNodes{},
	}, podNodes)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/nodes/{name}", ID: "get-pod-node", Tag: tag, Summary: "Read the status of one node of a pod",
		Effect: web.Scoped, Answers: pod.Snapshot{},
	}, podNode)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/nodes/{name}/ensure", ID: "ensure-pod-node", Tag: tag, Summary: "Start a node, after the nodes that it needs",
		Effect: web.Scoped, Answers: document.EnsuredNode{},
	}, ensurePodNode)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/reconcile", ID: "reconcile-pod", Tag: tag, Summary: "Start nodes, and adopt those that are awake",
		Effect: web.Scoped, Answers: pod.Reconciled{},
	}, reconcilePod)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/mutate", ID: "mutate-pod", Tag: tag, Summary: "Change the topology: it is stored first, then nodes stop and start",
		Effect: web.Scoped, Once: true, BodyNeeded: true, Answers: document.Mutated{},
	}, mutatePod)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/hibernate", ID: "hibernate-pod", Tag: tag, Summary: "Stop all nodes and the pod; returns what is stored, at one index",
		Effect: web.Scoped, Answers: pod.Rested{},
	}, hibernatePod)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/fork", ID: "fork-pod", Tag: tag, Summary: "Fork a pod from what is stored, at one index",
		Effect: web.Scoped, Once: true, BodyNeeded: true, Answers: pod.Forked{},
	}, forkPod)
}

// onPod returns the pod in the path, and the service to call it.
func onPod(c *web.Request) (pod.Pods, agent.InstanceRef, error) {
	host, ref, err := onInstance(c)
	return pod.Pods{Instances: host, Service: c.API.Service, Scope: c.Scope}, ref, err
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
		return web.WithReport(err, raw)
	default:
		return web.WriteOutcome(err)
	}
}

func getPod(c *web.Request, body *document.OpenPodBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	got, err := pods.Get(c.Context, ref, pod.Open{Topology: []byte(body.Topology), InitialState: []byte(body.InitialState)})
	if err != nil {
		return reported(got.Report, err)
	}
	a := web.Reply{Body: document.GotPodOf(ref, got)}
	if got.Created {
		a.Location = web.PathOf("pods", ref.Manager, ref.Key)
	}
	return c.Answer(a)
}

func lookAtPod(c *web.Request, _ *web.None) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	view, err := pods.Lookup(c.Context, ref)
	if err != nil {
		return web.ReadOutcome(err)
	}
	stored, err := document.StoredPodOf(ref, view)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: stored})
}

func podNodes(c *web.Request, _ *web.None) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	shots, err := pods.Nodes(c.Context, ref)
	if err != nil {
		return web.ReadOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.PodNodes{Items: shots}})
}

func podNode(c *web.Request, _ *web.None) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	shot, err := pods.Node(c.Context, ref, c.ID("name"))
	if err != nil {
		return web.ReadOutcome(err)
	}
	return c.Answer(web.Reply{Body: shot})
}

func ensurePodNode(c *web.Request, body *document.EnsureBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	shot, report, err := pods.Ensure(c.Context, ref, c.ID("name"), agent.JSON(body.InitialState))
	if err != nil {
		return reported(report, err)
	}
	return c.Answer(web.Reply{Body: document.EnsuredNode{Node: shot, Report: report}})
}

func reconcilePod(c *web.Request, body *document.ReconcileBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	report, err := pods.Reconcile(c.Context, ref, body.Nodes...)
	if err != nil {
		return reported(report, err)
	}
	return c.Answer(web.Reply{Body: report})
}

func mutatePod(c *web.Request, body *document.MutateBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	report, err := pods.Mutate(c.Context, ref, agent.JSON(body.Ops.JSON), c.Request)
	if err != nil {
		return reported(report, err)
	}
	out, err := document.MutatedOf(report)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: out})
}

func hibernatePod(c *web.Request, _ *web.None) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	rested, err := pods.Hibernate(c.Context, ref)
	if err != nil {
		return reported(rested, err)
	}
	return c.Answer(web.Reply{Body: rested})
}

func forkPod(c *web.Request, body *document.ForkPodBody) error {
	pods, ref, err := onPod(c)
	if err != nil {
		return err
	}
	forked, err := pods.Fork(c.Context, ref, body.Key, c.Request)
	if err != nil {
		return web.WriteOutcome(err)
	}
	return c.Answer(web.Reply{Body: forked})
}
