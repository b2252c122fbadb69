package rest

import (
	"net/http"

	"dormouse/agent"
)

// instance is one instance as its owner sees it.
type instance struct {
	Manager     string               `json:"manager"`
	Key         string               `json:"key"`
	Partition   int                  `json:"partition"`
	Node        string               `json:"node" doc:"The owner of its partition"`
	Epoch       uint64               `json:"epoch" doc:"…and of the owning"`
	Status      agent.InstanceStatus `json:"status" enum:"dormant,waking,awake,draining"`
	Source      agent.InstanceSource `json:"source,omitempty" enum:"awake,thawed,fresh" doc:"Of a start: where the instance came from"`
	Attachments int                  `json:"attachments"`
	Thread      instanceThread       `json:"thread"`
	Revision    uint64               `json:"revision" doc:"Of its checkpoint; 0 where there is none yet"`
}

type instanceThread struct {
	ID  string `json:"id"`
	Rev uint64 `json:"rev"`
}

func instanceOf(i agent.Instance) instance {
	return instance{
		Manager: i.Manager, Key: i.Key, Partition: i.Partition, Node: i.Node, Epoch: i.Epoch, Status: i.Status, Source: i.Source,
		Attachments: i.Attachments, Thread: instanceThread{ID: i.Thread, Rev: i.Rev}, Revision: i.Revision,
	}
}

type startBody struct {
	InitialState document `json:"initial_state,omitempty" doc:"Where there is no checkpoint; {} where absent"`
}

type attachBody struct {
	Attachment string `json:"attachment,omitempty" doc:"Names who; made up where absent"`
	TTLMS      uint64 `json:"ttl_ms,omitempty" doc:"The attachment lapses unless touched for so long; the manager's where absent"`
}

type attached struct {
	instance
	Attachment string `json:"attachment"`
	ExpiresAt  int64  `json:"expires_at"`
}

func attachedOf(a agent.Attached) attached {
	return attached{instance: instanceOf(a.Instance), Attachment: a.Attachment, ExpiresAt: a.ExpiresAt}
}

type attachmentBody struct {
	Attachment string `json:"attachment,omitempty"`
}

type signalBody struct {
	Type string   `json:"type"`
	Data document `json:"data,omitempty"`
	Cast bool     `json:"cast,omitempty" doc:"Answer once it is in the mailbox"`
}

// signalReply answers a signal.
type signalReply struct {
	Node     string   `json:"node"`
	Epoch    uint64   `json:"epoch"`
	Rev      uint64   `json:"rev" doc:"Of the thread after the turn"`
	Revision uint64   `json:"revision" doc:"Of the checkpoint after the turn"`
	Durable  bool     `json:"durable" doc:"False for a cast and under durability idle: a crash may undo it"`
	Data     anyValue `json:"data,omitzero" doc:"The handler's answer"`
}

func signalReplyOf(r agent.Reply) signalReply {
	return signalReply{
		Node: r.Node, Epoch: r.Epoch, Rev: r.Rev, Revision: r.Revision, Durable: r.Durable, Data: anyValue{document(r.Data)},
	}
}

// nodeStats counts a manager's instances on one node.
type nodeStats struct {
	Node        string   `json:"node"`
	Error       string   `json:"error,omitempty" doc:"Why the node did not answer; its counts are not known"`
	Awake       int      `json:"awake"`
	Waking      int      `json:"waking"`
	Draining    int      `json:"draining"`
	Attachments int      `json:"attachments"`
	Signals     uint64   `json:"signals" doc:"Handled since the node started"`
	Wakes       uint64   `json:"wakes"`
	Hibernated  uint64   `json:"hibernated"`
	Failed      uint64   `json:"failed" doc:"Hibernations that failed"`
	Crashed     uint64   `json:"crashed" doc:"Handlers that panicked or hung"`
	Keys        []string `json:"keys,omitempty" doc:"Of those awake, in key order; at most 1,000"`
}

type managerStats struct {
	Manager string      `json:"manager" doc:"Empty for all"`
	Nodes   []nodeStats `json:"nodes" nullable:"false"`
}

func managerStatsOf(s agent.ManagerStats) managerStats {
	return managerStats{Manager: s.Manager, Nodes: rowsOf(s.Nodes, func(n agent.NodeStats) nodeStats { return nodeStats(n) })}
}

func (f *front) routeInstances() {
	const tag, one = "instances", "/v1/managers/{manager}/instances/{key}"
	register(f, route{
		method: http.MethodPost, path: one, id: "start-instance", tag: tag, summary: "Get or start an instance: it is awake then",
		effect: scoped, creates: true, answers: instance{},
	}, (*call).startInstance)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-instance", tag: tag, summary: "Look an instance up, without waking it",
		effect: scoped, answers: instance{},
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
		effect: scoped, answers: attached{},
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
		effect: scoped, once: true, bodyNeeded: true, answers: signalReply{},
	}, (*call).signalInstance)
	register(f, route{
		method: http.MethodPatch, path: one + "/cron", id: "patch-instance-cron", tag: tag,
		summary: "Set or cancel single recurring jobs of an instance; wakes it",
		effect:  scoped, once: true, bodyNeeded: true, answers: signalReply{},
	}, func(c *call, specs *document) error {
		return c.signalInstance(&signalBody{Type: agent.SignalCron, Data: *specs})
	})
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/stats", id: "manager-stats", tag: tag, summary: "Count a manager's instances over all nodes",
		effect: scoped, answers: managerStats{},
	}, (*call).managerStats)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/instances", id: "count-instances", tag: "cluster",
		summary: "Count the instances of all managers of all scopes, node by node", answers: managerStats{},
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

func (c *call) startInstance(body *startBody) error {
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
	a := reply{body: instanceOf(i)}
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
	return c.answer(reply{body: instanceOf(i)})
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

func (c *call) attachInstance(body *attachBody) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	ttl, err := timed("ttl_ms", body.TTLMS)
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
	return c.answer(reply{body: attachedOf(a)})
}

func (c *call) detachInstance(body *attachmentBody) error {
	host, ref, err := c.onInstance()
	if err == nil {
		err = agent.ValidID("attachment", body.Attachment)
	}
	if err != nil {
		return err
	}
	return c.acted(host.Detach(c.r.Context(), ref, body.Attachment))
}

func (c *call) touchInstance(body *attachmentBody) error {
	host, ref, err := c.onInstance()
	if err != nil {
		return err
	}
	return c.acted(host.Touch(c.r.Context(), ref, body.Attachment))
}

// signalInstance sends a signal once, however often it comes under one
// Idempotency-Key.
func (c *call) signalInstance(body *signalBody) error {
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
	return c.answer(reply{body: signalReplyOf(r)})
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
	return c.answer(reply{body: managerStatsOf(stats)})
}
