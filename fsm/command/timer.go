package command

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// EncodePlan encodes the settings of a timer.
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

// DecodeTimerRow decodes the row of a timer; id is used in the error.
func DecodeTimerRow(id string, raw []byte) (*logpb.TimerRow, error) {
	return Decode[logpb.TimerRow](raw, "timer", id)
}

// TimerOf returns a timer as callers see it.
func TimerOf(n kv.TimerName, row *logpb.TimerRow, data []byte) agent.Timer {
	t := decodePlan(row.GetPlan())
	t.Manager, t.Key, t.ID, t.Data = n.Manager, n.Key, n.ID, data
	t.Generation, t.Next, t.NotBefore, t.Attempts = row.GetGeneration(), row.GetNext(), row.GetNotBefore(), row.GetAttempts()
	t.Parked, t.LastError, t.CreatedAt, t.UpdatedAt = row.GetParked(), row.GetLastError(), row.GetCreatedAt(), row.GetUpdatedAt()
	return t
}
