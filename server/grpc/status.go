package grpc

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/api/ops"
)

// statusCodes maps this project's codes to gRPC's. All other codes are about a state that does not
// allow the call: FailedPrecondition.
var statusCodes = map[agent.Code]codes.Code{
	agent.CodeInvalid:                   codes.InvalidArgument,
	agent.CodeUnsupportedSchema:         codes.InvalidArgument,
	agent.CodeTooLarge:                  codes.InvalidArgument, // not ResourceExhausted, which invites a retry
	agent.CodeUnauthenticated:           codes.Unauthenticated,
	agent.CodeForbidden:                 codes.PermissionDenied,
	agent.CodeNotFound:                  codes.NotFound,
	agent.CodeConflict:                  codes.Aborted,
	agent.CodeRevRegression:             codes.Aborted,
	agent.CodeRevisionMismatch:          codes.Aborted,
	agent.CodeStaleSessionRevision:      codes.Aborted,
	agent.CodeStaleConversationRevision: codes.Aborted,
	agent.CodeDuplicateEntry:            codes.AlreadyExists,
	agent.CodeAlreadyExists:             codes.AlreadyExists,
	agent.CodeCompacted:                 codes.OutOfRange,
	agent.CodeOverloaded:                codes.ResourceExhausted,
	agent.CodeUnavailable:               codes.Unavailable,
	agent.CodeReadOnly:                  codes.Unavailable,
	agent.CodeCorrupt:                   codes.DataLoss,
	agent.CodeInternal:                  codes.Internal,
	agent.CodeUnknown:                   codes.DeadlineExceeded, // in gRPC the operation may have been completed
}

// statusOf returns a gRPC status with e as its detail.
func statusOf(e *agent.Error) error {
	code, ok := statusCodes[e.Code]
	if !ok {
		code = codes.FailedPrecondition
	}
	s := status.New(code, e.Error())
	if detailed, err := s.WithDetails(ops.ErrorToProto(e)); err == nil {
		s = detailed
	}
	return s.Err()
}

// errorOf returns the *agent.Error in err. An error without one is a bug, except a timeout: then a
// commit's outcome is unknown, and a read had none.
func errorOf(err error, commit bool) *agent.Error {
	var e *agent.Error
	switch {
	case errors.As(err, &e):
		return e
	case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		return agent.Errorf(agent.CodeInternal, "%v", err)
	case commit:
		return agent.Errorf(agent.CodeUnknown, "not decided in time; it may still apply")
	default:
		return agent.Errorf(agent.CodeUnavailable, "not answered in time")
	}
}
