package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeInstances(f *web.API) {
	const tag, one = "instances", "/v1/managers/{manager}/instances/{key}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one, ID: "start-instance", Tag: tag, Summary: "Get or start an instance; it is awake afterwards",
		Effect: web.Scoped, Creates: true, Answers: document.Instance{},
	}, startInstance)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-instance", Tag: tag, Summary: "Look an instance up, without waking it",
		Effect: web.Scoped, Answers: document.Instance{},
	}, lookupInstance)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "stop-instance", Tag: tag, Summary: "Hibernate an instance and end it; answers once that is durable",
		Effect: web.Scoped, Status: http.StatusNoContent,
	}, stopInstance)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/hibernate", ID: "hibernate-instance", Tag: tag, Summary: "Store an instance now and hibernate it",
		Effect: web.Scoped, Status: http.StatusNoContent,
	}, hibernateInstance)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/attach", ID: "attach-instance", Tag: tag, Summary: "Keep an instance awake while attached; starts it",
		Effect: web.Scoped, Once: true, Again: "renews the same attachment", Answers: document.Attached{},
	}, attachInstance)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/detach", ID: "detach-instance", Tag: tag, Summary: "End an attachment",
		Effect: web.Scoped, BodyNeeded: true, Status: http.StatusNoContent,
	}, detachInstance)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/touch", ID: "touch-instance", Tag: tag, Summary: "Restart the idle timer, and renew the attachment if one is named",
		Effect: web.Scoped, Status: http.StatusNoContent,
	}, touchInstance)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/signals", ID: "signal-instance", Tag: tag, Summary: "Send a signal to an instance's handler; wakes the instance",
		Effect: web.Scoped, Once: true, BodyNeeded: true, Answers: document.SignalReply{},
	}, signalInstance)
	web.Register(f, web.Route{
		Method: http.MethodPatch, Path: one + "/cron", ID: "patch-instance-cron", Tag: tag,
		Summary: "Set or cancel single recurring jobs of an instance; wakes the instance",
		Effect:  web.Scoped, Once: true, BodyNeeded: true, Answers: document.SignalReply{},
	}, func(c *web.Request, specs *document.JSON) error {
		return signalInstance(c, &document.SignalBody{Type: agent.SignalCron, Data: *specs})
	})
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/managers/{manager}/stats", ID: "manager-stats", Tag: tag, Summary: "Count a manager's instances over all nodes",
		Effect: web.Scoped, Answers: document.ManagerStats{},
	}, managerStats)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/instances", ID: "count-instances", Tag: "cluster",
		Summary: "Count the instances of all managers of all scopes, node by node", Answers: document.ManagerStats{},
	}, func(c *web.Request, _ *web.None) error { return stats(c, "", "") })
}

// onInstance returns the instance in the path, and the service that answers for it.
func onInstance(c *web.Request) (agent.Instances, agent.InstanceRef, error) {
	ref := agent.InstanceRef{Scope: c.Scope, Manager: c.ID("manager"), Key: c.ID("key")}
	host, err := instances(c)
	if err != nil {
		return nil, ref, err
	}
	return host, ref, ref.Validate()
}

// instances returns the service for all instances.
func instances(c *web.Request) (agent.Instances, error) {
	if c.API.Options.Instances == nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this node does not serve instances")
	}
	return c.API.Options.Instances, c.Err
}

func startInstance(c *web.Request, body *document.StartBody) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	start := agent.StartInstance{InitialState: agent.JSON(body.InitialState)}
	if err := start.Validate(); err != nil {
		return err
	}
	i, err := host.Start(c.Context, ref, start)
	if err != nil {
		return web.WriteOutcome(err)
	}
	a := web.Reply{Body: document.InstanceOf(i)}
	if i.Source == agent.SourceFresh {
		a.Location = web.PathOf("managers", ref.Manager, "instances", ref.Key)
	}
	return c.Answer(a)
}

func lookupInstance(c *web.Request, _ *web.None) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	i, err := host.Lookup(c.Context, ref)
	if err != nil {
		return web.ReadOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.InstanceOf(i)})
}

func stopInstance(c *web.Request, _ *web.None) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	return acted(c, host.Stop(c.Context, ref))
}

func hibernateInstance(c *web.Request, _ *web.None) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	return acted(c, host.Hibernate(c.Context, ref))
}

// acted answers a call without a body.
func acted(c *web.Request, err error) error {
	if err != nil {
		return web.WriteOutcome(err)
	}
	return c.Answer(web.Reply{})
}

// attachInstance attaches to an instance. An attachment without an id is named after the
// Idempotency-Key, so that a call that is repeated with the key makes no second one. The name is a
// hash, because a key may hold characters that an id may not.
func attachInstance(c *web.Request, body *document.AttachBody) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	ttl, err := document.Duration("ttl_ms", body.TTLMS)
	if err != nil {
		return err
	}
	attach := agent.Attach{Attachment: body.Attachment, TTL: ttl}
	if c.IdemKey != "" {
		key := sha256.Sum256([]byte(c.IdemKey))
		attach.Name(hex.EncodeToString(key[:]))
	}
	if err := attach.Validate(); err != nil {
		return err
	}
	a, err := host.Attach(c.Context, ref, attach)
	if err != nil {
		return web.WriteOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.AttachedOf(a)})
}

func detachInstance(c *web.Request, body *document.AttachmentBody) error {
	host, ref, err := onInstance(c)
	if err == nil {
		err = agent.ValidID("attachment", body.Attachment)
	}
	if err != nil {
		return err
	}
	return acted(c, host.Detach(c.Context, ref, body.Attachment))
}

func touchInstance(c *web.Request, body *document.AttachmentBody) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	return acted(c, host.Touch(c.Context, ref, body.Attachment))
}

// signalInstance sends a signal once, even if it is repeated with the same Idempotency-Key.
func signalInstance(c *web.Request, body *document.SignalBody) error {
	host, ref, err := onInstance(c)
	if err != nil {
		return err
	}
	signal := agent.Signal{Request: c.Request, Type: body.Type, Data: agent.JSON(body.Data), Cast: body.Cast}
	if err := signal.Validate(); err != nil {
		return err
	}
	r, err := host.Signal(c.Context, ref, signal)
	if err != nil {
		return web.WriteOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.SignalReplyOf(r)})
}

// managerStats returns an error for a name without a manager: zeros would hide a wrong name.
func managerStats(c *web.Request, _ *web.None) error {
	manager := c.ID("manager")
	if _, err := web.ReadNow[*agent.Manager](c, &agent.GetManager{Name: manager}); err != nil {
		return err
	}
	return stats(c, c.Scope, manager)
}

func stats(c *web.Request, scope, manager string) error {
	host, err := instances(c)
	if err != nil {
		return err
	}
	stats, err := host.Stats(c.Context, scope, manager)
	if err != nil {
		return web.ReadOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.ManagerStatsOf(stats)})
}
