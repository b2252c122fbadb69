package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

func timerOpToProto(out *oppb.Op, op agent.Op) {
	switch o := op.(type) {
	case *agent.PutTimer:
		t := &o.Timer
		out.Op = &oppb.Op_PutTimer{PutTimer: &oppb.PutTimer{
			Manager: t.Manager, Key: t.Key, Id: t.ID, Cron: t.Cron, TimeZone: t.TimeZone, At: t.Next, Missed: string(t.Missed),
			CatchUp: t.CatchUp, Type: t.Type, Data: t.Data,
		}}
	case *agent.DeleteTimer:
		out.Op = &oppb.Op_DeleteTimer{DeleteTimer: &oppb.DeleteTimer{Manager: o.Manager, Key: o.Key, Id: o.ID}}
	case *agent.AckTimer:
		out.Op = &oppb.Op_AckTimer{AckTimer: AckTimerToProto(o)}
	case *agent.FailTimer:
		out.Op = &oppb.Op_FailTimer{FailTimer: &oppb.FailTimer{
			Manager: o.Manager, Key: o.Key, Id: o.ID, Generation: o.Generation, Instant: o.Instant, NotBefore: o.NotBefore, Error: o.Error, Waits: o.Waits,
		}}
	case *agent.PatchCron:
		out.Op = &oppb.Op_PatchCron{PatchCron: &oppb.PatchCron{
			Key: o.Key, Specs: o.Specs, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}}
	}
}

func timerOpFromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_PutTimer:
		if p := o.PutTimer; p != nil {
			return &agent.PutTimer{Timer: agent.Timer{
				Manager: p.Manager, Key: p.Key, ID: p.Id, Cron: p.Cron, TimeZone: p.TimeZone, Next: p.At, Missed: agent.Missed(p.Missed),
				CatchUp: p.CatchUp, Type: p.Type, Data: JSON(p.Data),
			}}, nil
		}
	case *oppb.Op_DeleteTimer:
		if p := o.DeleteTimer; p != nil {
			return &agent.DeleteTimer{Manager: p.Manager, Key: p.Key, ID: p.Id}, nil
		}
	case *oppb.Op_AckTimer:
		if o.AckTimer != nil {
			return AckTimerFromProto(o.AckTimer), nil
		}
	case *oppb.Op_FailTimer:
		if p := o.FailTimer; p != nil {
			return &agent.FailTimer{
				Manager: p.Manager, Key: p.Key, ID: p.Id, Generation: p.Generation, Instant: p.Instant, NotBefore: p.NotBefore, Error: p.Error, Waits: p.Waits,
			}, nil
		}
	case *oppb.Op_PatchCron:
		if p := o.PatchCron; p != nil {
			return &agent.PatchCron{Key: p.Key, Specs: JSON(p.Specs), IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation}, nil
		}
	}
	return nil, noKind()
}

// AckTimerToProto converts an acknowledgement, as a signal between nodes
// carries it; nil is nil.
func AckTimerToProto(o *agent.AckTimer) *oppb.AckTimer {
	if o == nil {
		return nil
	}
	return &oppb.AckTimer{Manager: o.Manager, Key: o.Key, Id: o.ID, Generation: o.Generation, Instant: o.Instant, Next: o.Next}
}

// AckTimerFromProto is the inverse of AckTimerToProto.
func AckTimerFromProto(p *oppb.AckTimer) *agent.AckTimer {
	if p == nil {
		return nil
	}
	return &agent.AckTimer{Manager: p.Manager, Key: p.Key, ID: p.Id, Generation: p.Generation, Instant: p.Instant, Next: p.Next}
}

// TimerToProto converts a timer to protobuf.
func TimerToProto(t *agent.Timer) *oppb.Timer {
	return &oppb.Timer{
		Manager: t.Manager, Key: t.Key, Id: t.ID, Cron: t.Cron, TimeZone: t.TimeZone, Missed: string(t.Missed), CatchUp: t.CatchUp,
		Type: t.Type, Data: t.Data, Generation: t.Generation, Next: t.Next, NotBefore: t.NotBefore, Attempts: t.Attempts,
		Parked: t.Parked, LastError: t.LastError, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}

// TimerFromProto converts a timer from protobuf.
func TimerFromProto(p *oppb.Timer) *agent.Timer {
	return &agent.Timer{
		Manager: p.GetManager(), Key: p.GetKey(), ID: p.GetId(), Cron: p.GetCron(), TimeZone: p.GetTimeZone(), Missed: agent.Missed(p.GetMissed()),
		CatchUp: p.GetCatchUp(), Type: p.GetType(), Data: JSON(p.GetData()), Generation: p.GetGeneration(), Next: p.GetNext(),
		NotBefore: p.GetNotBefore(), Attempts: p.GetAttempts(), Parked: p.GetParked(), LastError: p.GetLastError(),
		CreatedAt: p.GetCreatedAt(), UpdatedAt: p.GetUpdatedAt(),
	}
}
