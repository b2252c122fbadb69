package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func timerOpToProto(out *apipb.Op, op agent.Op) {
	switch o := op.(type) {
	case *agent.PutTimer:
		t := &o.Timer
		out.Op = &apipb.Op_PutTimer{PutTimer: &apipb.PutTimer{
			Manager: t.Manager, Key: t.Key, Id: t.ID, Cron: t.Cron, TimeZone: t.TimeZone, At: t.Next, Missed: string(t.Missed),
			CatchUp: t.CatchUp, Type: t.Type, Data: t.Data,
		}}
	case *agent.DeleteTimer:
		out.Op = &apipb.Op_DeleteTimer{DeleteTimer: &apipb.DeleteTimer{Manager: o.Manager, Key: o.Key, Id: o.ID}}
	case *agent.AckTimer:
		out.Op = &apipb.Op_AckTimer{AckTimer: AckTimerToProto(o)}
	case *agent.FailTimer:
		out.Op = &apipb.Op_FailTimer{FailTimer: &apipb.FailTimer{
			Manager: o.Manager, Key: o.Key, Id: o.ID, Generation: o.Generation, Instant: o.Instant, NotBefore: o.NotBefore, Error: o.Error, Waits: o.Waits,
		}}
	case *agent.PatchCron:
		out.Op = &apipb.Op_PatchCron{PatchCron: &apipb.PatchCron{
			Key: o.Key, Specs: o.Specs, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}}
	}
}

func timerOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_PutTimer:
		if p := o.PutTimer; p != nil {
			return &agent.PutTimer{Timer: agent.Timer{
				Manager: p.Manager, Key: p.Key, ID: p.Id, Cron: p.Cron, TimeZone: p.TimeZone, Next: p.At, Missed: agent.Missed(p.Missed),
				CatchUp: p.CatchUp, Type: p.Type, Data: json(p.Data),
			}}, nil
		}
	case *apipb.Op_DeleteTimer:
		if p := o.DeleteTimer; p != nil {
			return &agent.DeleteTimer{Manager: p.Manager, Key: p.Key, ID: p.Id}, nil
		}
	case *apipb.Op_AckTimer:
		if o.AckTimer != nil {
			return AckTimerFromProto(o.AckTimer), nil
		}
	case *apipb.Op_FailTimer:
		if p := o.FailTimer; p != nil {
			return &agent.FailTimer{
				Manager: p.Manager, Key: p.Key, ID: p.Id, Generation: p.Generation, Instant: p.Instant, NotBefore: p.NotBefore, Error: p.Error, Waits: p.Waits,
			}, nil
		}
	case *apipb.Op_PatchCron:
		if p := o.PatchCron; p != nil {
			return &agent.PatchCron{Key: p.Key, Specs: json(p.Specs), IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation}, nil
		}
	}
	return nil, noKind()
}

// AckTimerToProto converts an acknowledgement, as a signal between nodes
// carries it; nil is nil.
func AckTimerToProto(o *agent.AckTimer) *apipb.AckTimer {
	if o == nil {
		return nil
	}
	return &apipb.AckTimer{Manager: o.Manager, Key: o.Key, Id: o.ID, Generation: o.Generation, Instant: o.Instant, Next: o.Next}
}

// AckTimerFromProto is the inverse of AckTimerToProto.
func AckTimerFromProto(p *apipb.AckTimer) *agent.AckTimer {
	if p == nil {
		return nil
	}
	return &agent.AckTimer{Manager: p.Manager, Key: p.Key, ID: p.Id, Generation: p.Generation, Instant: p.Instant, Next: p.Next}
}

func listTimersToProto(r *agent.ListTimers) *apipb.ListTimers {
	return &apipb.ListTimers{Manager: r.Manager, Key: r.Key, Prefix: r.Prefix, After: r.After, Limit: r.Limit}
}

func listTimersFromProto(r *apipb.ListTimers) agent.Read {
	return &agent.ListTimers{
		Manager: r.GetManager(), Key: r.GetKey(), Page: agent.Page{Prefix: r.GetPrefix(), After: r.GetAfter(), Limit: r.GetLimit()},
	}
}

func timerToProto(t *agent.Timer) *apipb.Timer {
	return &apipb.Timer{
		Manager: t.Manager, Key: t.Key, Id: t.ID, Cron: t.Cron, TimeZone: t.TimeZone, Missed: string(t.Missed), CatchUp: t.CatchUp,
		Type: t.Type, Data: t.Data, Generation: t.Generation, Next: t.Next, NotBefore: t.NotBefore, Attempts: t.Attempts,
		Parked: t.Parked, LastError: t.LastError, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}

func timerFromProto(p *apipb.Timer) *agent.Timer {
	return &agent.Timer{
		Manager: p.GetManager(), Key: p.GetKey(), ID: p.GetId(), Cron: p.GetCron(), TimeZone: p.GetTimeZone(), Missed: agent.Missed(p.GetMissed()),
		CatchUp: p.GetCatchUp(), Type: p.GetType(), Data: json(p.GetData()), Generation: p.GetGeneration(), Next: p.GetNext(),
		NotBefore: p.GetNotBefore(), Attempts: p.GetAttempts(), Parked: p.GetParked(), LastError: p.GetLastError(),
		CreatedAt: p.GetCreatedAt(), UpdatedAt: p.GetUpdatedAt(),
	}
}

func timerListToProto(l *agent.TimerList) *apipb.TimerList {
	out := &apipb.TimerList{Items: make([]*apipb.Timer, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = timerToProto(&l.Items[i])
	}
	return out
}

func timerListFromProto(l *apipb.TimerList) *agent.TimerList {
	out := &agent.TimerList{Items: make([]agent.Timer, len(l.GetItems())), Next: l.GetNext()}
	for i, t := range l.GetItems() {
		out.Items[i] = *timerFromProto(t)
	}
	return out
}
