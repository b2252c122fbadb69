package convert

import (
	"context"
	"errors"
	"io"
	"iter"

	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// Remote implements agent.Instances over gRPC: the instances of another process. It
// makes each call once.
type Remote struct {
	API apipb.InstancesClient

	// Fail converts an error of gRPC. change says that the call may have changed
	// something, so the outcome of a broken call is unknown.
	Fail func(err error, change bool) error
}

// Values of change. A call that can be repeated changes something, too: without an
// answer it may have been applied.
const (
	reads   = false
	changes = true
)

// Start implements agent.Instances.
func (r Remote) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (agent.Instance, error) {
	i, err := r.API.Start(ctx, &apipb.StartRequest{Ref: RefToProto(ref), InitialState: start.InitialState})
	if err != nil {
		return agent.Instance{}, r.Fail(err, changes)
	}
	return InstanceFromProto(i), nil
}

// Lookup implements agent.Instances.
func (r Remote) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	i, err := r.API.Lookup(ctx, &apipb.InstanceRequest{Ref: RefToProto(ref)})
	if err != nil {
		return agent.Instance{}, r.Fail(err, reads)
	}
	return InstanceFromProto(i), nil
}

// Stop implements agent.Instances.
func (r Remote) Stop(ctx context.Context, ref agent.InstanceRef) error {
	_, err := r.API.Stop(ctx, &apipb.InstanceRequest{Ref: RefToProto(ref), IfErased: agent.OnlyErased(ctx)})
	return r.failed(err)
}

// Hibernate implements agent.Instances.
func (r Remote) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	_, err := r.API.Hibernate(ctx, &apipb.InstanceRequest{Ref: RefToProto(ref)})
	return r.failed(err)
}

// Attach implements agent.Instances. Callers must not retry an attachment without a
// name.
func (r Remote) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	a, err := r.API.Attach(ctx, AttachToProto(ref, attach))
	if err != nil {
		return agent.Attached{}, r.Fail(err, changes)
	}
	return agent.Attached{Instance: InstanceFromProto(a.Instance), Attachment: a.Attachment, ExpiresAt: a.ExpiresAt}, nil
}

// Detach implements agent.Instances.
func (r Remote) Detach(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	_, err := r.API.Detach(ctx, &apipb.AttachmentRequest{Ref: RefToProto(ref), Attachment: attachment})
	return r.failed(err)
}

// Touch implements agent.Instances.
func (r Remote) Touch(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	_, err := r.API.Touch(ctx, &apipb.AttachmentRequest{Ref: RefToProto(ref), Attachment: attachment})
	return r.failed(err)
}

// Signal implements agent.Instances.
func (r Remote) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	reply, err := r.API.Signal(ctx, SignalToProto(ref, signal))
	if err != nil {
		return agent.Reply{}, r.Fail(err, changes)
	}
	return SignalReplyFromProto(reply), nil
}

// Stats implements agent.Instances.
func (r Remote) Stats(ctx context.Context, scope, manager string) (agent.ManagerStats, error) {
	s, err := r.API.Stats(ctx, &apipb.ManagerStatsRequest{Scope: scope, Manager: manager})
	if err != nil {
		return agent.ManagerStats{}, r.Fail(err, reads)
	}
	return ManagerStatsFromProto(s), nil
}

// Watch implements agent.Instances.
func (r Remote) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		ours, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := r.API.Watch(ours, InstanceWatchToProto(w))
		for err == nil {
			var m *apipb.InstanceEvent
			if m, err = stream.Recv(); err == nil && !yield(InstanceEventFromProto(m), nil) {
				return
			}
		}
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, io.EOF):
			yield(agent.InstanceEvent{}, agent.Errorf(agent.CodeUnavailable, "the watch ended early"))
		default:
			yield(agent.InstanceEvent{}, r.Fail(err, reads))
		}
	}
}

// failed returns the error of a call that changes something; nil if err is nil.
func (r Remote) failed(err error) error {
	if err == nil {
		return nil
	}
	return r.Fail(err, changes)
}
