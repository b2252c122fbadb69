package client

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/api/ops"
	oppb "dormouse/proto/op"
)

func errClosed() *agent.Error {
	return agent.Errorf(agent.CodeUnavailable, "the client is closed")
}

// errorOf converts the error of a call outside of the Exchange stream. If no node made
// the error, the outcome is unknown for a change and unavailable for a read.
func errorOf(err error, change bool) *agent.Error {
	s := status.Convert(err)
	for _, d := range s.Details() {
		if e, ok := d.(*oppb.Error); ok {
			return ops.ErrorFromProto(e)
		}
	}
	switch s.Code() {
	case codes.Unauthenticated:
		return agent.Errorf(agent.CodeUnauthenticated, "%s", s.Message())
	case codes.PermissionDenied:
		return agent.Errorf(agent.CodeForbidden, "%s", s.Message())
	case codes.Unimplemented:
		return agent.Errorf(agent.CodeInternal, "the node does not know the call: %s", s.Message())
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
	default:
		if !change {
			return agent.Errorf(agent.CodeInternal, "%v", err)
		}
	}
	if change {
		return agent.Errorf(agent.CodeUnknown, "the call broke and may still be done: %v", err)
	}
	return agent.Errorf(agent.CodeUnavailable, "the call broke: %v", err)
}
