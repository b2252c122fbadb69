package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var timerCodecs = []opCodec{
	codec(encodePutTimer, (*oppb.Op).GetPutTimer, decodePutTimer),
	codec(encodeDeleteTimer, (*oppb.Op).GetDeleteTimer, decodeDeleteTimer),
	codec(encodeAckTimer, (*oppb.Op).GetAckTimer, decodeAckTimer),
	codec(encodeFailTimer, (*oppb.Op).GetFailTimer, decodeFailTimer),
	codec(encodePatchCron, (*oppb.Op).GetPatchCron, decodePatchCron),
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

func encodePutTimer(out *oppb.Op, o *agent.PutTimer) {
	t := &o.Timer
	out.Op = &oppb.Op_PutTimer{PutTimer: &oppb.PutTimer{
		Manager: t.Manager, Key: t.Key, Id: t.ID, Cron: t.Cron, TimeZone: t.TimeZone, At: t.Next, Missed: string(t.Missed),
		CatchUp: t.CatchUp, Type: t.Type, Data: t.Data,
	}}
}

func decodePutTimer(p *oppb.PutTimer) (agent.Op, error) {
	return &agent.PutTimer{Timer: agent.Timer{
		Manager: p.Manager, Key: p.Key, ID: p.Id, Cron: p.Cron, TimeZone: p.TimeZone, Next: p.At, Missed: agent.Missed(p.Missed),
		CatchUp: p.CatchUp, Type: p.Type, Data: JSON(p.Data),
	}}, nil
}

func encodeDeleteTimer(out *oppb.Op, o *agent.DeleteTimer) {
	out.Op = &oppb.Op_DeleteTimer{DeleteTimer: &oppb.DeleteTimer{Manager: o.Manager, Key: o.Key, Id: o.ID}}
}

func decodeDeleteTimer(p *oppb.DeleteTimer) (agent.Op, error) {
	return &agent.DeleteTimer{Manager: p.Manager, Key: p.Key, ID: p.Id}, nil
}

func encodeAckTimer(out *oppb.Op, o *agent.AckTimer) {
	out.Op = &oppb.Op_AckTimer{AckTimer: AckTimerToProto(o)}
}

func decodeAckTimer(p *oppb.AckTimer) (agent.Op, error) {
	return AckTimerFromProto(p), nil
}

func encodeFailTimer(out *oppb.Op, o *agent.FailTimer) {
	out.Op = &oppb.Op_FailTimer{FailTimer: &oppb.FailTimer{
		Manager: o.Manager, Key: o.Key, Id: o.ID, Generation: o.Generation, Instant: o.Instant, NotBefore: o.NotBefore, Error: o.Error, Waits: o.Waits,
	}}
}

func decodeFailTimer(p *oppb.FailTimer) (agent.Op, error) {
	return &agent.FailTimer{
		Manager: p.Manager, Key: p.Key, ID: p.Id, Generation: p.Generation, Instant: p.Instant, NotBefore: p.NotBefore, Error: p.Error, Waits: p.Waits,
	}, nil
}

func encodePatchCron(out *oppb.Op, o *agent.PatchCron) {
	out.Op = &oppb.Op_PatchCron{PatchCron: &oppb.PatchCron{
		Key: o.Key, Specs: o.Specs, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}}
}

func decodePatchCron(p *oppb.PatchCron) (agent.Op, error) {
	return &agent.PatchCron{Key: p.Key, Specs: JSON(p.Specs), IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation}, nil
}
