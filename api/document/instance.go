package document

import (
	"dormouse/agent"
)

// Instance is the state of an instance, as its owner reports it.
type Instance struct {
	Manager     string               `json:"manager"`
	Key         string               `json:"key"`
	Partition   int                  `json:"partition"`
	Node        string               `json:"node" doc:"The owner of its partition"`
	Epoch       uint64               `json:"epoch" doc:"…and the epoch of that ownership"`
	Status      agent.InstanceStatus `json:"status" enum:"dormant,waking,awake,draining"`
	Source      agent.InstanceSource `json:"source,omitempty" enum:"awake,thawed,fresh" doc:"Of a start: where the instance came from"`
	Attachments int                  `json:"attachments"`
	Mailbox     int                  `json:"mailbox" doc:"Calls that wait for it"`
	IdleAt      int64                `json:"idle_at" doc:"When it hibernates unless it is used, Unix ms; 0 if no idle timeout runs: it is attached, busy or dormant, or its manager has none"`
	Thread      instanceThread       `json:"thread"`
	Revision    uint64               `json:"revision" doc:"Of its checkpoint; 0 without one"`
}

type instanceThread struct {
	ID  string `json:"id"`
	Rev uint64 `json:"rev"`
}

// InstanceOf returns the document of i.
func InstanceOf(i agent.Instance) Instance {
	return Instance{
		Manager: i.Manager, Key: i.Key, Partition: i.Partition, Node: i.Node, Epoch: i.Epoch, Status: i.Status, Source: i.Source,
		Attachments: i.Attachments, Mailbox: i.Mailbox, IdleAt: i.IdleAt, Thread: instanceThread{ID: i.Thread, Rev: i.Rev}, Revision: i.Revision,
	}
}

// StartBody starts an instance.
type StartBody struct {
	InitialState JSON `json:"initial_state,omitempty" doc:"Used if there is no checkpoint; {} if absent"`
}

// AttachBody attaches to an instance.
type AttachBody struct {
	Attachment string `json:"attachment,omitempty" doc:"Attachment id; generated if absent"`
	TTLMS      uint64 `json:"ttl_ms,omitempty" doc:"The attachment expires unless it is touched within this time; the manager's if absent"`
}

// Attached is the result of an attachment.
type Attached struct {
	Instance
	Attachment string `json:"attachment"`
	ExpiresAt  int64  `json:"expires_at"`
}

// AttachedOf returns the document of a.
func AttachedOf(a agent.Attached) Attached {
	return Attached{Instance: InstanceOf(a.Instance), Attachment: a.Attachment, ExpiresAt: a.ExpiresAt}
}

// AttachmentBody names an attachment.
type AttachmentBody struct {
	Attachment string `json:"attachment,omitempty"`
}

// SignalBody is a signal to an instance.
type SignalBody struct {
	Type string `json:"type"`
	Data JSON   `json:"data,omitempty"`
	Cast bool   `json:"cast,omitempty" doc:"Answer as soon as it is in the mailbox"`
}

// SignalReply is the answer to a signal.
type SignalReply struct {
	Node     string   `json:"node"`
	Epoch    uint64   `json:"epoch"`
	Rev      uint64   `json:"rev" doc:"Of the thread after the turn"`
	Revision uint64   `json:"revision" doc:"Of the checkpoint after the turn"`
	Durable  bool     `json:"durable" doc:"False for a cast and with durability idle: a crash may lose the turn"`
	Data     AnyValue `json:"data,omitzero" doc:"The handler's answer"`
}

// SignalReplyOf returns the document of r.
func SignalReplyOf(r agent.Reply) SignalReply {
	return SignalReply{
		Node: r.Node, Epoch: r.Epoch, Rev: r.Rev, Revision: r.Revision, Durable: r.Durable, Data: AnyValue{JSON(r.Data)},
	}
}

// nodeStats are the statistics of a manager's instances on one node.
type nodeStats struct {
	Node        string   `json:"node"`
	Error       string   `json:"error,omitempty" doc:"Why the node did not answer; then its counts are unknown"`
	Awake       int      `json:"awake"`
	Waking      int      `json:"waking"`
	Draining    int      `json:"draining"`
	Attachments int      `json:"attachments"`
	Signals     uint64   `json:"signals" doc:"Handled since the node started"`
	Wakes       uint64   `json:"wakes"`
	Hibernated  uint64   `json:"hibernated"`
	Failed      uint64   `json:"failed" doc:"Failed hibernations"`
	Crashed     uint64   `json:"crashed" doc:"Handlers that panicked or hung"`
	Keys        []string `json:"keys,omitempty" doc:"Of awake instances, in key order; at most 1,000"`
}

// ManagerStats are the statistics of a manager's instances, node by node.
type ManagerStats struct {
	Manager string      `json:"manager" doc:"Empty for all"`
	Nodes   []nodeStats `json:"nodes" nullable:"false"`
}

// ManagerStatsOf returns the document of s.
func ManagerStatsOf(s agent.ManagerStats) ManagerStats {
	return ManagerStats{Manager: s.Manager, Nodes: rowsOf(s.Nodes, func(n agent.NodeStats) nodeStats { return nodeStats(n) })}
}

// InstanceChange is one change of the status of an instance.
type InstanceChange struct {
	Manager string               `json:"manager"`
	Key     string               `json:"key"`
	Node    string               `json:"node"`
	Epoch   uint64               `json:"epoch"`
	Status  agent.InstanceStatus `json:"status"`
	Reason  string               `json:"reason"`
	At      int64                `json:"at"`
}

// InstanceChangeOf returns the document of e.
func InstanceChangeOf(e *agent.InstanceEvent) InstanceChange {
	return InstanceChange{
		Manager: e.Manager, Key: e.Key, Node: e.Node, Epoch: e.Epoch, Status: e.Status, Reason: e.Reason, At: e.At,
	}
}

// InstancesMissed is an event of a watch: changes before it may be missing.
type InstancesMissed struct {
	Node   string `json:"node,omitempty"`
	Reason string `json:"reason"`
}
