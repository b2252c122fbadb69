package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// RefToProto converts the name of an instance.
func RefToProto(r agent.InstanceRef) *apipb.InstanceRef {
	return &apipb.InstanceRef{Scope: r.Scope, Manager: r.Manager, Key: r.Key}
}

// RefFromProto converts the name of an instance, and validates it.
func RefFromProto(r *apipb.InstanceRef) (agent.InstanceRef, error) {
	ref := agent.InstanceRef{Scope: r.GetScope(), Manager: r.GetManager(), Key: r.GetKey()}
	return ref, ref.Validate()
}

// InstanceToProto converts an instance.
func InstanceToProto(i *agent.Instance) *apipb.Instance {
	return &apipb.Instance{
		Ref: RefToProto(i.InstanceRef), Partition: int32(i.Partition), Node: i.Node, Epoch: i.Epoch, Status: string(i.Status), //nolint:gosec // below layout.Partitions
		Source: string(i.Source), Attachments: int64(i.Attachments), Revision: i.Revision, Thread: i.Thread, Rev: i.Rev,
		Mailbox: int64(i.Mailbox), IdleAt: i.IdleAt,
	}
}

// InstanceFromProto converts an instance.
func InstanceFromProto(i *apipb.Instance) agent.Instance {
	r := i.GetRef()
	return agent.Instance{
		InstanceRef: agent.InstanceRef{Scope: r.GetScope(), Manager: r.GetManager(), Key: r.GetKey()},
		Partition:   int(i.GetPartition()), Node: i.GetNode(), Epoch: i.GetEpoch(), Status: agent.InstanceStatus(i.GetStatus()),
		Source: agent.InstanceSource(i.GetSource()), Attachments: int(i.GetAttachments()), Revision: i.GetRevision(),
		Thread: i.GetThread(), Rev: i.GetRev(), Mailbox: int(i.GetMailbox()), IdleAt: i.GetIdleAt(),
	}
}

// AttachToProto converts a request for an attachment.
func AttachToProto(ref agent.InstanceRef, a agent.Attach) *apipb.AttachRequest {
	return &apipb.AttachRequest{Ref: RefToProto(ref), Attachment: a.Attachment, TtlMs: ops.Millis(a.TTL)}
}

// AttachFromProto converts a request for an attachment.
func AttachFromProto(a *apipb.AttachRequest) (agent.Attach, error) {
	ttl, err := ops.Duration("ttl_ms", a.GetTtlMs())
	return agent.Attach{Attachment: a.GetAttachment(), TTL: ttl}, err
}

// SignalToProto converts a signal.
func SignalToProto(ref agent.InstanceRef, s agent.Signal) *apipb.SignalRequest {
	out := &apipb.SignalRequest{Ref: RefToProto(ref), Type: s.Type, Data: s.Data, Cast: s.Cast}
	if s.Ack != nil {
		out.Ack = ops.AckTimerToProto(s.Ack)
	}
	if s.Request.Client != "" {
		out.Request = &apipb.Request{Client: s.Request.Client, Seq: s.Request.Seq, Low: s.Request.Low, TtlMs: ops.Millis(s.Request.TTL)}
	}
	return out
}

// SignalFromProto converts a signal. Its acknowledgement counts only if the sender is a
// node.
func SignalFromProto(s *apipb.SignalRequest) (agent.Signal, error) {
	ttl, err := ops.Duration("request.ttl_ms", s.GetRequest().GetTtlMs())
	r := s.GetRequest()
	out := agent.Signal{
		Request: agent.Request{Client: r.GetClient(), Seq: r.GetSeq(), Low: r.GetLow(), TTL: ttl},
		Type:    s.GetType(), Data: ops.JSON(s.GetData()), Cast: s.GetCast(),
	}
	if s.GetAck() != nil {
		out.Ack = ops.AckTimerFromProto(s.Ack)
	}
	return out, err
}

// SignalReplyToProto converts the answer to a signal.
func SignalReplyToProto(r *agent.Reply) *apipb.SignalReply {
	return &apipb.SignalReply{Node: r.Node, Epoch: r.Epoch, Rev: r.Rev, Revision: r.Revision, Durable: r.Durable, Data: r.Data}
}

// SignalReplyFromProto converts the answer to a signal.
func SignalReplyFromProto(r *apipb.SignalReply) agent.Reply {
	return agent.Reply{
		Node: r.GetNode(), Epoch: r.GetEpoch(), Rev: r.GetRev(), Revision: r.GetRevision(), Durable: r.GetDurable(), Data: ops.JSON(r.GetData()),
	}
}

// ManagerStatsToProto converts the statistics of a manager.
func ManagerStatsToProto(s *agent.ManagerStats) *apipb.ManagerStats {
	out := &apipb.ManagerStats{Manager: s.Manager}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		out.Nodes = append(out.Nodes, &apipb.NodeStats{
			Node: n.Node, Error: n.Error, Awake: int64(n.Awake), Waking: int64(n.Waking), Draining: int64(n.Draining),
			Attachments: int64(n.Attachments), Signals: n.Signals, Wakes: n.Wakes, Hibernated: n.Hibernated, Failed: n.Failed,
			Crashed: n.Crashed, Keys: n.Keys,
		})
	}
	return out
}

// ManagerStatsFromProto converts the statistics of a manager.
func ManagerStatsFromProto(s *apipb.ManagerStats) agent.ManagerStats {
	out := agent.ManagerStats{Manager: s.GetManager()}
	for _, n := range s.GetNodes() {
		out.Nodes = append(out.Nodes, agent.NodeStats{
			Node: n.GetNode(), Error: n.GetError(), Awake: int(n.GetAwake()), Waking: int(n.GetWaking()), Draining: int(n.GetDraining()),
			Attachments: int(n.GetAttachments()), Signals: n.GetSignals(), Wakes: n.GetWakes(), Hibernated: n.GetHibernated(),
			Failed: n.GetFailed(), Crashed: n.GetCrashed(), Keys: n.GetKeys(),
		})
	}
	return out
}

// InstanceWatchToProto converts the selection of a watch on instances.
func InstanceWatchToProto(w agent.InstanceWatch) *apipb.WatchInstancesRequest {
	return &apipb.WatchInstancesRequest{Scope: w.Scope, Manager: w.Manager, Key: w.Key}
}

// InstanceWatchFromProto is the inverse of InstanceWatchToProto.
func InstanceWatchFromProto(w *apipb.WatchInstancesRequest) agent.InstanceWatch {
	return agent.InstanceWatch{Scope: w.GetScope(), Manager: w.GetManager(), Key: w.GetKey()}
}

// InstanceEventToProto converts one element of a watch of instances.
func InstanceEventToProto(e *agent.InstanceEvent) *apipb.InstanceEvent {
	return &apipb.InstanceEvent{
		Missed: e.Missed, Scope: e.Scope, Manager: e.Manager, Key: e.Key, Node: e.Node, Epoch: e.Epoch,
		Status: string(e.Status), Reason: e.Reason, At: e.At,
	}
}

// InstanceEventFromProto converts one element of a watch of instances.
func InstanceEventFromProto(e *apipb.InstanceEvent) agent.InstanceEvent {
	return agent.InstanceEvent{
		Missed: e.GetMissed(), InstanceRef: agent.InstanceRef{Scope: e.GetScope(), Manager: e.GetManager(), Key: e.GetKey()},
		Node: e.GetNode(), Epoch: e.GetEpoch(), Status: agent.InstanceStatus(e.GetStatus()), Reason: e.GetReason(), At: e.GetAt(),
	}
}
