package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func (f *front) routeInstances() {
	const tag, one = "instances", "/v1/managers/{manager}/instances/{key}"
	register(f, route{
		method: http.MethodPost, path: one, id: "start-instance", tag: tag, summary: "Get or start an instance: it is awake then",
		effect: scoped, creates: true, answers: document.Instance{},
	}, (*call).startInstance)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-instance", tag: tag, summary: "Look an instance up, without waking it",
		effect: scoped, answers: document.Instance{},
	}, (*call).lookupInstance)
	register(f, route{
		method: http.MethodDelete, path: one, id: "stop-instance", tag: tag, summary: "Hibernate an instance and end it; ok once that is durable",
		effect: scoped, status: http.StatusNoContent,
	}, (*call).stopInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/hibernate", id: "hibernate-instance", tag: tag, summary: "Store an instance now and let it sleep",
		effect: scoped, status: http.StatusNoContent,
	}, (*call).hibernateInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/attach", id: "attach-instance", tag: tag, summary: "Keep an instance awake for somebody; starts it",
		effect: scoped, answers: document.Attached{},
	}, (*call).attachInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/detach", id: "detach-instance", tag: tag, summary: "End an attachment",
		effect: scoped, bodyNeeded: true, status: http.StatusNoContent,
	}, (*call).detachInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/touch", id: "touch-instance", tag: tag, summary: "Arm the idle timer anew, and the attachment where one is named",
		effect: scoped, status: http.StatusNoContent,
	}, (*call).touchInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/signals", id: "signal-instance", tag: tag, summary: "Ask an instance's handler for something; wakes it",
		effect: scoped, once: true, bodyNeeded: true, answers: document.SignalReply{},
	}, (*call).signalInstance)
	register(f, route{
		method: http.MethodPatch, path: one + "/cron", id: "patch-instance-cron", tag: tag,
		summary: "Set or cancel single recurring jobs of an instance; wakes it",
		effect:  scoped, once: true, bodyNeeded: true, answers: document.SignalReply{},
	}, func(c *call, specs *document.JSON) error {
		return c.signalInstance(&document.SignalBody{Type: agent.SignalCron, Data: *specs})
	})
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/stats", id: "manager-stats", tag: tag, summary: "Count a manager's instances over all nodes",
		effect: scoped, answers: document.ManagerStats{},
	}, (*call).managerStats)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/instances", id: "count-instances", tag: "cluster",
		summary: "Count the instances of all managers of all scopes, node by node", answers: document.ManagerStats{},
	}, func(c *call, _ *none) error { return c.stats("", "") })
}

// onInstance names the instance that a call is about, and who answers for it.
func (c *call) onInstance() (agent.Instances, agent.InstanceRef, error) {
	ref := agent.InstanceRef{Scope: c.scope, Manager: c.id("manager"), Key: c.id("key")}
	host, err := c.instances()
	if err != nil {
		return nil, ref, err
	}
	return host, ref, ref.Validate()
}

// instances is who answers for all instances.
func (c *call) instances() (agent.Instances, error) {
	if c.front.options.Instances == nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this node takes no calls on instances")
	}
	return c.front.options.Instances, c.err
}

func (c *call) startInstance(body *document.StartBody) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	start := agent.StartInstance{InitialState: agent.JSON(body.InitialState)}
	if err := start.Validate(); err != nil {
		return err
	}
	i, err := host.Start(c.r.Context(), ref, start)
	if err != nil {
		return writeOutcome(err)
	}
	a := reply{body: document.InstanceOf(i)}
	if i.Source == agent.SourceFresh {
		a.location = location("managers", ref.Manager, "instances", ref.Key)
	}
	return c.answer(a)
}

func (c *call) lookupInstance(*none) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	i, err := host.Lookup(c.r.Context(), ref)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: document.InstanceOf(i)})
}

func (c *call) stopInstance(*none) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	return c.acted(host.Stop(c.r.Context(), ref))
}

func (c *call) hibernateInstance(*none) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	return c.acted(host.Hibernate(c.r.Context(), ref))
}

// acted answers a call that has no answer of its own.
func (c *call) acted(err error) error {
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{})
}

func (c *call) attachInstance(body *document.AttachBody) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	ttl, err := document.Duration("ttl_ms", body.TTLMS)
	if err != nil {
		return err
	}
	attach := agent.Attach{Attachment: body.Attachment, TTL: ttl}
	if err := attach.Validate(); err != nil {
		return err
	}
	a, err := host.Attach(c.r.Context(), ref, attach)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.AttachedOf(a)})
}

func (c *call) detachInstance(body *document.AttachmentBody) error {
	host, ref, err := c.onInstance()
	if err == nil {
		err = agent.ValidID("attachment", body.Attachment)
	}
	if err != nil {
		return err
	}
	return c.acted(host.Detach(c.r.Context(), ref, body.Attachment))
}

func (c *call) touchInstance(body *document.AttachmentBody) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	return c.acted(host.Touch(c.r.Context(), ref, body.Attachment))
}

// signalInstance sends a signal once, however often it comes under one
// Idempotency-Key.
func (c *call) signalInstance(body *document.SignalBody) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	signal := agent.Signal{Request: c.request, Type: body.Type, Data: agent.JSON(body.Data), Cast: body.Cast}
	if err := signal.Validate(); err != nil {
		return err
	}
	r, err := host.Signal(c.r.Context(), ref, signal)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.SignalReplyOf(r)})
}

// managerStats counts nothing under a name that is no manager's: zeros would
// hide a slip of the pen.
func (c *call) managerStats(*none) error {
	manager := c.id("manager")
	if _, err := readNow[*agent.Manager](c, &agent.GetManager{Name: manager}); err != nil {
		return err
	}
	return c.stats(c.scope, manager)
}

func (c *call) stats(scope, manager string) error {
	host, err := c.instances()
	if err != nil {
		return err
	}
	stats, err := host.Stats(c.r.Context(), scope, manager)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: document.ManagerStatsOf(stats)})
}
