package peer

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
	peerpb "dormouse/proto/peer"
)

// RegisterHandlers serves remote turns of peers.
func RegisterHandlers(s *grpc.Server, handlers layout.RemoteHandlers) {
	peerpb.RegisterHandlersServer(s, handlersServer{handlers: handlers})
}

type handlersServer struct {
	peerpb.UnimplementedHandlersServer
	handlers layout.RemoteHandlers
}

// Handle implements peerpb.HandlersServer.
func (s handlersServer) Handle(ctx context.Context, r *peerpb.HandleRequest) (*peerpb.HandleResponse, error) {
	e, err := remoteTurnFromProto(r)
	if err != nil {
		return nil, toStatus(err)
	}
	done, err := s.handlers.Handle(ctx, e)
	if err != nil {
		return nil, toStatus(err)
	}
	answer, err := resultToProto(&e, done)
	if err != nil { // it would fail on any process
		return resultToProto(&e, layout.RemoteTurnResult{Refusal: unfit("invalid_change", err)})
	}
	if n := proto.Size(answer); n > convert.ReplyMessageBytesMax {
		err := agent.TooLarge("turn", "errand_bytes_max", n, convert.ReplyMessageBytesMax)
		return resultToProto(&e, layout.RemoteTurnResult{Refusal: unfit("too_large", err)})
	}
	return answer, nil
}

// unfit returns the refusal of a turn whose result cannot be sent or stored.
func unfit(reason string, err error) *agent.Error {
	e := agent.Errorf(agent.CodeHandlerFailed, "the handler's result cannot be stored: %v", err)
	e.Reason = reason
	return e
}

// Handlers returns the handlers of the process at addr.
func (p *Pool) Handlers(addr string) layout.RemoteHandlers {
	return handlersAt{peerpb.NewHandlersClient(connected{pool: p, addr: addr})}
}

type handlersAt struct{ api peerpb.HandlersClient }

// Handle implements layout.RemoteHandlers.
func (h handlersAt) Handle(ctx context.Context, e layout.RemoteTurn) (layout.RemoteTurnResult, error) {
	r, err := remoteTurnToProto(&e)
	if err != nil {
		return layout.RemoteTurnResult{}, err
	}
	answer, err := h.api.Handle(ctx, r)
	if err != nil {
		return layout.RemoteTurnResult{}, fromStatus(err)
	}
	return resultFromProto(answer)
}

func remoteTurnToProto(e *layout.RemoteTurn) (*peerpb.HandleRequest, error) {
	out := &peerpb.HandleRequest{
		Scope: e.Scope, Manager: e.Manager, Key: e.Key, Handler: e.Handler, Version: e.Version, Storage: string(e.Storage),
		Schedules: e.Schedules, Cron: e.Cron, State: e.State, From: e.From, Life: e.Run, Rev: e.Rev, Revision: e.Revision,
	}
	if e.Signal == nil {
		return out, nil
	}
	var err error
	if out.Signal, err = proto.Marshal(convert.SignalToProto(e.InstanceRef, *e.Signal)); err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "encode a signal: %v", err)
	}
	return out, nil
}

func remoteTurnFromProto(r *peerpb.HandleRequest) (layout.RemoteTurn, error) {
	e := layout.RemoteTurn{
		InstanceRef: agent.InstanceRef{Scope: r.Scope, Manager: r.Manager, Key: r.Key},
		Handler:     r.Handler, Version: r.Version, Storage: agent.Keeping(r.Storage),
		Schedules: r.Schedules, Cron: r.Cron, State: r.State, From: r.From, Run: r.Life, Rev: r.Rev, Revision: r.Revision,
	}
	if err := e.Validate(); err != nil || len(r.Signal) == 0 {
		return e, err
	}
	var p apipb.SignalRequest
	if err := proto.Unmarshal(r.Signal, &p); err != nil {
		return e, agent.Invalid("signal", "the remote turn's signal is damaged: %v", err)
	}
	s, err := convert.SignalFromProto(&p)
	e.Signal = &s
	return e, err
}

// resultToProto returns an error if no message can hold the result, such as a kind
// that is not UTF-8.
func resultToProto(e *layout.RemoteTurn, done layout.RemoteTurnResult) (*peerpb.HandleResponse, error) {
	out := &peerpb.HandleResponse{State: done.State, Durable: done.Durable, Reply: done.Reply, Crashed: done.Crashed}
	var err error
	if done.Refusal != nil {
		if out.Refusal, err = proto.Marshal(ops.ErrorToProto(done.Refusal)); err != nil {
			return nil, agent.Errorf(agent.CodeInternal, "encode a refusal: %v", err)
		}
		return out, nil
	}
	for _, specs := range done.Jobs {
		out.Jobs = append(out.Jobs, specs)
	}
	ops := done.Ops
	if out.Appends = len(done.Entries) > 0; out.Appends {
		ops = append([]agent.Op{&agent.AppendThread{Thread: e.Checkpoint(), Entries: done.Entries}}, ops...)
	}
	if len(ops) > 0 {
		out.Wants, err = proto.Marshal(convert.CommitToProto(&agent.Commit{Ops: ops}))
	}
	return out, err
}

func first(ops []agent.Op) agent.Op {
	if len(ops) == 0 {
		return nil
	}
	return ops[0]
}

// resultFromProto returns a refusal, as if the handler had failed, for a result that
// no turn can have.
func resultFromProto(r *peerpb.HandleResponse) (layout.RemoteTurnResult, error) {
	if len(r.Refusal) > 0 {
		var p oppb.Error
		if err := proto.Unmarshal(r.Refusal, &p); err != nil {
			return layout.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "the result of a remote turn is damaged: %v", err)
		}
		return layout.RemoteTurnResult{Refusal: ops.ErrorFromProto(&p), Crashed: r.Crashed}, nil
	}
	done := layout.RemoteTurnResult{State: r.State, Durable: r.Durable, Reply: r.Reply}
	for _, specs := range r.Jobs {
		done.Jobs = append(done.Jobs, specs)
	}
	if len(r.Wants) == 0 && !r.Appends {
		return done, nil
	}
	var p apipb.CommitRequest
	if err := proto.Unmarshal(r.Wants, &p); err != nil {
		return layout.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "the result of a remote turn is damaged: %v", err)
	}
	wants, err := convert.CommitFromProto(&p)
	if err != nil {
		reason := "invalid_change"
		if errors.Is(err, agent.ErrTooLarge) {
			reason = "too_large"
		}
		return layout.RemoteTurnResult{Refusal: unfit(reason, err)}, nil
	}
	done.Ops = wants.Ops
	if !r.Appends {
		return done, nil
	}
	if appended, ok := first(done.Ops).(*agent.AppendThread); ok {
		done.Entries, done.Ops = appended.Entries, done.Ops[1:]
		return done, nil
	}
	return layout.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "the result of a remote turn lacks the entries that it announces")
}
