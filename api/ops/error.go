package ops

import (
	"math"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// ErrorToProto converts an error; nil becomes nil.
func ErrorToProto(e *agent.Error) *oppb.Error {
	if e == nil {
		return nil
	}
	return &oppb.Error{
		Code: string(e.Code), Detail: e.Detail, Final: e.Final, Op: opNumber(e.Op),
		Field: e.Field, Limit: e.Limit, Rev: e.Rev, Head: e.Head, Thread: e.Thread,
		Revision: e.Revision, Seq: e.Seq, Incarnation: e.Incarnation, Floor: e.Floor,
		Epoch: e.Epoch, Holder: e.Holder, ExpiresAt: e.ExpiresAt, RetryAfterMs: e.RetryAfterMS,
		State: e.State, Reason: e.Reason,
	}
}

// opNumber converts an op number to the type of its field; commits have far fewer ops.
func opNumber(op int) int32 {
	if op < 0 || op > math.MaxInt32 {
		return -1
	}
	return int32(op)
}

// ErrorFromProto converts an error; nil becomes nil. An error without a code counts as
// internal.
func ErrorFromProto(e *oppb.Error) *agent.Error {
	if e == nil {
		return nil
	}
	code := agent.Code(e.Code)
	if code == "" {
		code = agent.CodeInternal
	}
	return &agent.Error{
		Code: code, Detail: e.Detail, Final: e.Final, Op: int(e.Op),
		Field: e.Field, Limit: e.Limit, Rev: e.Rev, Head: e.Head, Thread: e.Thread,
		Revision: e.Revision, Seq: e.Seq, Incarnation: e.Incarnation, Floor: e.Floor,
		Epoch: e.Epoch, Holder: e.Holder, ExpiresAt: e.ExpiresAt, RetryAfterMS: e.RetryAfterMs,
		State: e.State, Reason: e.Reason,
	}
}
