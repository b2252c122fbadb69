package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

func listTimersToProto(r *agent.ListTimers) *apipb.ListTimers {
	return &apipb.ListTimers{Manager: r.Manager, Key: r.Key, Prefix: r.Prefix, After: r.After, Limit: r.Limit}
}

func listTimersFromProto(r *apipb.ListTimers) agent.Read {
	return &agent.ListTimers{
		Manager: r.GetManager(), Key: r.GetKey(), Page: agent.Page{Prefix: r.GetPrefix(), After: r.GetAfter(), Limit: r.GetLimit()},
	}
}

func timerListToProto(l *agent.TimerList) *apipb.TimerList {
	out := &apipb.TimerList{Items: make([]*oppb.Timer, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = ops.TimerToProto(&l.Items[i])
	}
	return out
}

func timerListFromProto(l *apipb.TimerList) *agent.TimerList {
	out := &agent.TimerList{Items: make([]agent.Timer, len(l.GetItems())), Next: l.GetNext()}
	for i, t := range l.GetItems() {
		out.Items[i] = *ops.TimerFromProto(t)
	}
	return out
}
