package timer

import (
	"context"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

func alarmRef(p *workload.Process, key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: p.Scope, Manager: alarmManager, Key: key}
}

// put sets a timer, under a unique name.
func (w *timer) put(ctx context.Context, p *workload.Process, key string, in timerCall) {
	in.Name = workload.WriteName(p, w.names.Add(1))
	if in.Again == "" {
		w.mu.Lock()
		w.set[key] = append(w.set[key], in.Name)
		w.mu.Unlock()
	}
	t := agent.Timer{Manager: alarmManager, Key: key, ID: in.id(), Next: in.At, Type: "append"}
	t.Data = agent.JSON(`{"entries":{"payload":` + string(workload.MarkOf(in.Name)) + `}}`)
	if in.Every {
		t.Cron, t.Missed, t.CatchUp = everySecond, agent.MissedCatchUp, agent.TimerCatchUpMax
	}
	_, err := workload.Call(ctx, p, callSet, key, true, in, func(ctx context.Context) (timersSeen, error) {
		_, err := p.Client.In(p.Scope).PutTimer(ctx, t)
		return timersSeen{}, err
	})
	w.keep(p, key, in, err)
}

func (*timer) cancel(ctx context.Context, p *workload.Process, key, name string) (timersSeen, error) {
	return workload.Call(ctx, p, callCancel, key, true, timerCall{Name: name}, func(ctx context.Context) (timersSeen, error) {
		gone, err := p.Client.In(p.Scope).DeleteTimer(ctx, alarmManager, key, name)
		if err != nil {
			return timersSeen{}, err
		}
		return timersSeen{Existed: gone.Existed, Untold: !workload.Told(gone)}, nil
	})
}

// read reads the timers of an instance and its thread at one index.
func (*timer) read(ctx context.Context, p *workload.Process, call, key string) (timersSeen, error) {
	return workload.Call(ctx, p, call, key, false, timerCall{}, func(ctx context.Context) (timersSeen, error) {
		_, answers, err := workload.FindAll(ctx, p,
			&agent.ListTimers{Manager: alarmManager, Key: key, Page: agent.Page{Limit: agent.ListLimitMax}},
			&agent.LoadEntries{Thread: alarmRef(p, key).Checkpoint(), Limit: agent.EntriesLimitMax})
		if err != nil {
			return timersSeen{}, err
		}
		var out timersSeen
		for _, found := range answers {
			switch found := found.(type) {
			case *agent.TimerList:
				for _, t := range found.Items {
					out.Pending = append(out.Pending, timerSeen{Name: t.ID, Every: t.Cron != "", Next: t.Next, Set: t.UpdatedAt})
				}
			case *agent.Entries:
				for _, e := range found.Items {
					out.Fired = append(out.Fired, timerFired{Name: workload.NameIn(e.Payload), At: e.At})
				}
			}
		}
		return out, nil
	})
}
