package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeInstances(f *api) {
	const tag, one = "instances", "/v1/managers/{manager}/instances/{key}"
	register(f, route{
		method: http.MethodPost, path: one, id: "start-instance", tag: tag, summary: "Get or start an instance; it is awake afterwards",
		effect: scoped, creates: true, answers: document.Instance{},
	}, startInstance)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-instance", tag: tag, summary: "Look an instance up, without waking it",
		effect: scoped, answers: document.Instance{},
	}, lookupInstance)
	register(f, route{
		method: http.MethodDelete, path: one, id: "stop-instance", tag: tag, summary: "Hibernate an instance and end it; answers once that is durable",
		effect: scoped, status: http.StatusNoContent,
	}, stopInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/hibernate", id: "hibernate-instance", tag: tag, summary: "Store an instance now and hibernate it",
		effect: scoped, status: http.StatusNoContent,
	}, hibernateInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/attach", id: "attach-instance", tag: tag, summary: "Keep an instance awake while attached; starts it",
		effect: scoped, answers: document.Attached{},
	}, attachInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/detach", id: "detach-instance", tag: tag, summary: "End an attachment",
		effect: scoped, bodyNeeded: true, status: http.StatusNoContent,
	}, detachInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/touch", id: "touch-instance", tag: tag, summary: "Restart the idle timer, and renew the attachment if one is named",
		effect: scoped, status: http.StatusNoContent,
	}, touchInstance)
	register(f, route{
		method: http.MethodPost, path: one + "/signals", id: "signal-instance", tag: tag, summary: "Send a signal to an instance's handler; wakes the instance",
		effect: scoped, once: true, bodyNeeded: true, answers: document.SignalReply{},
	}, signalInstance)
	register(f, route{
		method: http.MethodPatch, path: one + "/cron", id: "patch-instance-cron", tag: tag,
		summary: "Set or cancel single recurring jobs of an instance; wakes the instance",
		effect:  scoped, once: true, bodyNeeded: true, answers: document.SignalReply{},
	}, func(c *request, specs *document.JSON) error {
		return signalInstance(c, &document.SignalBody{Type: agent.SignalCron, Data: *specs})
	})
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/stats", id: "manager-stats", tag: tag, summary: "Count a manager's instances over all nodes",
		effect: scoped, answers: document.ManagerStats{},
	}, managerStats)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/instances", id: "count-instances", tag: "cluster",
		summary: "Count the instances of all managers of all scopes, node by node", answers: document.ManagerStats{},
	}, func(c *request, _ *none) error { return stats(c, "", "") })
}

// onInstance returns the instance in the path, and the service that answers for it.
func onInstance(c *request) (agent.Instances, agent.InstanceRef, error) {
	ref := agent.InstanceRef{Scope: c.scope, Manager: c.id("manager"), Key: c.id("key")}
	host, err := instances(c)
	if err != nil {
		return nil, ref, err
	}
	return host, ref, ref.Validate()
}

// instances returns the service for all instances.
func instances(c *request) (agent.Instances, error) {
	if c.api.options.Instances == nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this node does not serve instances")
	}
	return c.api.options.Instances, c.err
}

func startInstance(c *request, body *document.StartBody) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	start := agent.StartInstance{InitialState: agent.JSON(body.InitialState)}
	if err := start.Validate(); err != nil {
		return err
	}
	i, err := host.Start(c.ctx, ref, start)
	if err != nil {
		return writeOutcome(err)
	}
	a := reply{body: document.InstanceOf(i)}
	if i.Source == agent.SourceFresh {
		a.location = location("managers", ref.Manager, "instances", ref.Key)
	}
	return c.answer(a)
}

func lookupInstance(c *request, _ *none) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	i, err := host.Lookup(c.ctx, ref)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: document.InstanceOf(i)})
}

func stopInstance(c *request, _ *none) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	return acted(c, host.Stop(c.ctx, ref))
}

func hibernateInstance(c *request, _ *none) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	return acted(c, host.Hibernate(c.ctx, ref))
}

// acted answers a call without a body.
func acted(c *request, err error) error {
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{})
}

func attachInstance(c *request, body *document.AttachBody) error {
	host, ref, err := onInstance(c)
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
	a, err := host.Attach(c.ctx, ref, attach)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.AttachedOf(a)})
}

func detachInstance(c *request, body *document.AttachmentBody) error {
	host, ref, err := onInstance(c)
	if err == nil {
		err = agent.ValidID("attachment", body.Attachment)
	}
	if err != nil {
		return err
	}
	return acted(c, host.Detach(c.ctx, ref, body.Attachment))
}

func touchInstance(c *request, body *document.AttachmentBody) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	return acted(c, host.Touch(c.ctx, ref, body.Attachment))
}

// signalInstance sends a signal once, even if it is repeated with the same Idempotency-Key.
func signalInstance(c *request, body *document.SignalBody) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	signal := agent.Signal{Request: c.request, Type: body.Type, Data: agent.JSON(body.Data), Cast: body.Cast}
	if err := signal.Validate(); err != nil {
		return err
	}
	r, err := host.Signal(c.ctx, ref, signal)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.SignalReplyOf(r)})
}

// managerStats returns an error for a name without a manager: zeros would hide a wrong name.
func managerStats(c *request, _ *none) error {
	manager := c.id("manager")
	if _, err := readNow[*agent.Manager](c, &agent.GetManager{Name: manager}); err != nil {
		return err
	}
	return stats(c, c.scope, manager)
}

func stats(c *request, scope, manager string) error {
	host, err := instances(c)
	if err != nil {
		return err
	}
	stats, err := host.Stats(c.ctx, scope, manager)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: document.ManagerStatsOf(stats)})
}
