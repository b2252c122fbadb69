package command

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

func encodeTimerOp(op agent.Op) (*logpb.Op, error) {
	switch o := op.(type) {
	case *agent.PutTimer:
		return &logpb.Op{Op: &logpb.Op_PutTimer{PutTimer: &logpb.PutTimer{
			Manager: o.Timer.Manager, Key: o.Timer.Key, Id: o.Timer.ID, Plan: EncodePlan(&o.Timer), Next: o.Timer.Next,
		}}}, nil
	case *agent.DeleteTimer:
		return &logpb.Op{Op: &logpb.Op_DeleteTimer{DeleteTimer: &logpb.DeleteTimer{Manager: o.Manager, Key: o.Key, Id: o.ID}}}, nil
	case *agent.AckTimer:
		return &logpb.Op{Op: &logpb.Op_AckTimer{AckTimer: &logpb.AckTimer{
			Manager: o.Manager, Key: o.Key, Id: o.ID, Generation: o.Generation, Instant: o.Instant, Next: o.Next,
		}}}, nil
	case *agent.FailTimer:
		return &logpb.Op{Op: &logpb.Op_FailTimer{FailTimer: &logpb.FailTimer{
			Manager: o.Manager, Key: o.Key, Id: o.ID, Generation: o.Generation, Instant: o.Instant, NotBefore: o.NotBefore, Error: o.Error, Waits: o.Waits,
		}}}, nil
	default:
		return nil, fmt.Errorf("op of type %T has no place in the log", op)
	}
}

func decodeTimerOp(op *logpb.Op) (agent.Op, error) {
	switch p := op.Op.(type) {
	case *logpb.Op_PutTimer:
		o := p.PutTimer
		t := decodePlan(o.Plan)
		t.Manager, t.Key, t.ID, t.Next = o.Manager, o.Key, o.Id, o.Next
		return &agent.PutTimer{Timer: t}, nil
	case *logpb.Op_DeleteTimer:
		o := p.DeleteTimer
		return &agent.DeleteTimer{Manager: o.Manager, Key: o.Key, ID: o.Id}, nil
	case *logpb.Op_AckTimer:
		o := p.AckTimer
		return &agent.AckTimer{Manager: o.Manager, Key: o.Key, ID: o.Id, Generation: o.Generation, Instant: o.Instant, Next: o.Next}, nil
	case *logpb.Op_FailTimer:
		o := p.FailTimer
		return &agent.FailTimer{
			Manager: o.Manager, Key: o.Key, ID: o.Id, Generation: o.Generation, Instant: o.Instant, NotBefore: o.NotBefore, Error: o.Error, Waits: o.Waits,
		}, nil
	default:
		return nil, fmt.Errorf("op of type %T is unknown", p)
	}
}

// EncodePlan converts what a timer is set to.
func EncodePlan(t *agent.Timer) *logpb.TimerPlan {
	return &logpb.TimerPlan{
		Cron: t.Cron, TimeZone: t.TimeZone, Missed: string(t.Missed), CatchUp: t.CatchUp, Type: t.Type, Data: t.Data,
	}
}

func decodePlan(p *logpb.TimerPlan) agent.Timer {
	return agent.Timer{
		Cron: p.GetCron(), TimeZone: p.GetTimeZone(), Missed: agent.Missed(p.GetMissed()), CatchUp: p.GetCatchUp(), Type: p.GetType(),
		Data: p.GetData(),
	}
}

// DecodeTimerRow decodes the row of a timer; the name is for the error.
func DecodeTimerRow(id string, raw []byte) (*logpb.TimerRow, error) {
	row := &logpb.TimerRow{}
	if err := Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode timer %q: %w", id, err)
	}
	return row, nil
}

// TimerOf is a timer as callers see it.
func TimerOf(n kv.TimerName, row *logpb.TimerRow, data []byte) agent.Timer {
	t := decodePlan(row.GetPlan())
	t.Manager, t.Key, t.ID, t.Data = n.Manager, n.Key, n.ID, data
	t.Generation, t.Next, t.NotBefore, t.Attempts = row.GetGeneration(), row.GetNext(), row.GetNotBefore(), row.GetAttempts()
	t.Parked, t.LastError, t.CreatedAt, t.UpdatedAt = row.GetParked(), row.GetLastError(), row.GetCreatedAt(), row.GetUpdatedAt()
	return t
}

func encodeTimerResult(r *agent.TimerResult) *logpb.TimerResult {
	t := &r.Timer
	return &logpb.TimerResult{Manager: t.Manager, Key: t.Key, Id: t.ID, Row: &logpb.TimerRow{
		Plan: EncodePlan(t), Generation: t.Generation, Next: t.Next, NotBefore: t.NotBefore, Attempts: t.Attempts,
		Parked: t.Parked, LastError: t.LastError, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}}
}

func decodeTimerResult(p *logpb.TimerResult) *agent.TimerResult {
	return &agent.TimerResult{Timer: TimerOf(kv.TimerName{Manager: p.GetManager(), Key: p.GetKey(), ID: p.GetId()}, p.GetRow(), p.GetRow().GetPlan().GetData())}
}
