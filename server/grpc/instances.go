package grpc

import (
	"context"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

// RegisterPeerInstances serves the instances of this node to peers; calls on those of other nodes
// return CodeNotOwner. Calls with convert.RelayHeader go to relayed, which forwards them to their
// owners.
func RegisterPeerInstances(s *rpc.Server, local, relayed agent.Instances) {
	f := &api{draining: context.Background(), trusted: true, timeout: timeoutDefault, logger: hclog.NewNullLogger(), instances: local}
	apipb.RegisterInstancesServer(s, &instances{api: f, relayed: relayed})
}

// instances is the Instances service.
type instances struct {
	apipb.UnimplementedInstancesServer
	*api

	relayed agent.Instances // for calls with convert.RelayHeader; nil if those are not accepted
}

// host returns the service that answers a call on an instance.
func (s *instances) host(ctx context.Context) (agent.Instances, error) {
	if s.instances == nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this node does not serve instances")
	}
	if s.relayed != nil && len(metadata.ValueFromIncomingContext(ctx, convert.RelayHeader)) > 0 {
		return s.relayed, nil
	}
	return s.instances, nil
}

// on makes a call on one instance within its deadline.
func on[T any](
	ctx context.Context, s *instances, ref *apipb.InstanceRef, change bool, call func(context.Context, agent.Instances, agent.InstanceRef) (T, error),
) (T, error) {
	var none T
	host, err := s.host(ctx)
	if err != nil {
		return none, statusOf(errorOf(err, change))
	}
	name, err := convert.RefFromProto(ref)
	if err != nil {
		return none, statusOf(errorOf(err, change))
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	answer, err := call(ctx, host, name)
	if mayLearnOwner(err) {
		s.tellOwner(ctx, name)
	}
	if err != nil {
		return none, statusOf(errorOf(err, change))
	}
	return answer, nil
}

// mayLearnOwner reports whether the caller has rights to the instance: the guard has let its call pass. An
// invalid call does not reach the guard.
func mayLearnOwner(err error) bool {
	if err == nil {
		return true
	}
	switch agent.CodeOf(err) {
	case agent.CodeUnauthenticated, agent.CodeForbidden, agent.CodeInvalid, agent.CodeTooLarge:
		return false
	default:
		return true
	}
}

// tellOwner sends the client the address of the instance's owner, if that is another node. It is
// only a hint: any node accepts any call.
func (s *instances) tellOwner(ctx context.Context, ref agent.InstanceRef) {
	if s.owner == nil {
		return
	}
	if addr := s.owner(ref); addr != "" {
		_ = rpc.SetHeader(ctx, metadata.Pairs(convert.OwnerHeader, addr)) // fails if the answer has been sent
	}
}

// Start implements apipb.InstancesServer.
func (s *instances) Start(ctx context.Context, req *apipb.StartRequest) (*apipb.Instance, error) {
	return on(ctx, s, req.Ref, true, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.Instance, error) {
		start := agent.StartInstance{InitialState: req.InitialState}
		if err := start.Validate(); err != nil {
			return nil, err
		}
		i, err := host.Start(ctx, ref, start)
		return convert.InstanceToProto(&i), err
	})
}

// Lookup implements apipb.InstancesServer.
func (s *instances) Lookup(ctx context.Context, req *apipb.InstanceRequest) (*apipb.Instance, error) {
	return on(ctx, s, req.Ref, false, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.Instance, error) {
		i, err := host.Lookup(ctx, ref)
		return convert.InstanceToProto(&i), err
	})
}

// Stop implements apipb.InstancesServer.
func (s *instances) Stop(ctx context.Context, req *apipb.InstanceRequest) (*apipb.InstanceResponse, error) {
	return on(ctx, s, req.Ref, true, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.InstanceResponse, error) {
		if req.IfErased {
			ctx = agent.IfErased(ctx)
		}
		return &apipb.InstanceResponse{}, host.Stop(ctx, ref)
	})
}

// Hibernate implements apipb.InstancesServer.
func (s *instances) Hibernate(ctx context.Context, req *apipb.InstanceRequest) (*apipb.InstanceResponse, error) {
	return on(ctx, s, req.Ref, true, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.InstanceResponse, error) {
		return &apipb.InstanceResponse{}, host.Hibernate(ctx, ref)
	})
}

// Attach implements apipb.InstancesServer.
func (s *instances) Attach(ctx context.Context, req *apipb.AttachRequest) (*apipb.Attached, error) {
	return on(ctx, s, req.Ref, true, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.Attached, error) {
		attach, err := convert.AttachFromProto(req)
		if err != nil {
			return nil, err
		}
		if err := attach.Validate(); err != nil {
			return nil, err
		}
		a, err := host.Attach(ctx, ref, attach)
		return &apipb.Attached{Instance: convert.InstanceToProto(&a.Instance), Attachment: a.Attachment, ExpiresAt: a.ExpiresAt}, err
	})
}

// Detach implements apipb.InstancesServer.
func (s *instances) Detach(ctx context.Context, req *apipb.AttachmentRequest) (*apipb.InstanceResponse, error) {
	return on(ctx, s, req.Ref, true, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.InstanceResponse, error) {
		if err := agent.ValidID("attachment", req.Attachment); err != nil {
			return nil, err
		}
		return &apipb.InstanceResponse{}, host.Detach(ctx, ref, req.Attachment)
	})
}

// Touch implements apipb.InstancesServer.
func (s *instances) Touch(ctx context.Context, req *apipb.AttachmentRequest) (*apipb.InstanceResponse, error) {
	return on(ctx, s, req.Ref, true, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.InstanceResponse, error) {
		return &apipb.InstanceResponse{}, host.Touch(ctx, ref, req.Attachment)
	})
}

// Signal implements apipb.InstancesServer.
func (s *instances) Signal(ctx context.Context, req *apipb.SignalRequest) (*apipb.SignalReply, error) {
	return on(ctx, s, req.Ref, true, func(ctx context.Context, host agent.Instances, ref agent.InstanceRef) (*apipb.SignalReply, error) {
		signal, err := convert.SignalFromProto(req)
		if err != nil {
			return nil, err
		}
		if !s.trusted {
			signal.Ack = nil // clients cannot acknowledge timers
		}
		if err := signal.Validate(); err != nil {
			return nil, err
		}
		reply, err := host.Signal(ctx, ref, signal)
		return convert.SignalReplyToProto(&reply), err
	})
}

// Stats implements apipb.InstancesServer.
func (s *instances) Stats(ctx context.Context, req *apipb.ManagerStatsRequest) (*apipb.ManagerStats, error) {
	host, err := s.host(ctx)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	stats, err := host.Stats(ctx, req.Scope, req.Manager)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	return convert.ManagerStatsToProto(&stats), nil
}

// Watch ends when the client disconnects, and with unavailable when this node stops: the client
// then watches on another node.
func (s *instances) Watch(req *apipb.WatchInstancesRequest, stream apipb.Instances_WatchServer) error {
	host, err := s.host(stream.Context())
	if err != nil {
		return statusOf(errorOf(err, false))
	}
	ctx, cancel := s.whileServing(stream.Context())
	defer cancel()
	for event, err := range host.Watch(ctx, convert.InstanceWatchFromProto(req)) {
		if err != nil {
			return statusOf(errorOf(err, false))
		}
		if err := stream.Send(convert.InstanceEventToProto(&event)); err != nil {
			return err
		}
	}
	return statusOf(agent.Errorf(agent.CodeUnavailable, "the watch ended; start it again"))
}
