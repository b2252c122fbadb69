package grpc

import (
	"context"
	"runtime/debug"
	"strings"

	rpc "google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/internal/tracing/grpctrace"
)

// ours reports whether a call is of this package's services, and not a health check or reflection,
// for which Shutdown does not wait.
func ours(method string) bool { return strings.HasPrefix(method, "/dormouse.") }

// enter registers a call that Shutdown waits for; it returns false once Shutdown has begun.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping {
		s.calls.Add(1)
	}
	return !s.stopping
}

func errStopping() *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "this node is stopping")
}

func (s *Server) unary(ctx context.Context, req any, info *rpc.UnaryServerInfo, handler rpc.UnaryHandler) (_ any, err error) {
	form := checkForm(req) // now: a call that is refused for another reason must not leave its message in malformed
	if ours(info.FullMethod) {
		if !s.enter() {
			return nil, statusOf(errStopping())
		}
		defer s.calls.Done()
		header, wrong := s.checkCluster(ctx)
		_ = rpc.SetHeader(ctx, header) // fails only after the header was sent
		if wrong != nil {
			return nil, statusOf(wrong)
		}
	}
	if ctx, err = s.authenticated(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	if form != nil {
		return nil, form
	}
	ctx = grpctrace.Incoming(ctx)
	defer func() {
		if r := recover(); r != nil {
			err = statusOf(s.api.panicked(info.FullMethod, r))
		}
	}()
	return s.room.call(ctx, req, info.FullMethod, func(ctx context.Context) (any, error) { return handler(ctx, req) })
}

func (s *Server) stream(srv any, stream rpc.ServerStream, info *rpc.StreamServerInfo, handler rpc.StreamHandler) (err error) {
	if ours(info.FullMethod) {
		if !s.enter() {
			return statusOf(errStopping())
		}
		defer s.calls.Done()
		header, wrong := s.checkCluster(stream.Context())
		if header != nil { // at once: a client waits for it before it sends anything
			if err := stream.SendHeader(header); err != nil {
				return err
			}
		}
		if wrong != nil {
			return statusOf(wrong)
		}
	}
	ctx, err := s.authenticated(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	stream = callStream{stream, ctx}
	defer func() {
		if r := recover(); r != nil {
			err = statusOf(s.api.panicked(info.FullMethod, r))
		}
	}()
	limited, end, err := s.room.stream(stream, info.FullMethod)
	if err != nil {
		return err
	}
	defer end()
	return handler(srv, limited)
}

// panicked logs a panic and returns the error for the client, which has no internal details.
func (f *api) panicked(where string, r any) *agent.Error {
	f.logger.Error("panic while serving a call", "call", where, "panic", r, "stack", string(debug.Stack()))
	return agent.Errorf(agent.CodeInternal, "internal error; see the node's log")
}
