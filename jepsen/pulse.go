package jepsen

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

const (
	// pulseEvery is the resolution of the recovery measurement.
	pulseEvery = 100 * time.Millisecond
	// pulseMax bounds one commit, so that a commit that gets no answer does not delay
	// the next.
	pulseMax = time.Second
)

// pulse is a process whose commits measure liveness.
type pulse struct {
	*workload.Process
	every time.Duration
}

// beat commits a small value at its interval until ctx ends.
func (p *pulse) beat(ctx context.Context) {
	key := fmt.Sprintf("pulse-%d", p.ID)
	for n := 0; ; n++ {
		p.once(ctx, key, []byte(fmt.Sprint(n)))
		if !pause.For(ctx, p.every) {
			return
		}
	}
}

func (p *pulse) once(ctx context.Context, key string, value []byte) {
	ctx, cancel := context.WithTimeout(ctx, pulseMax)
	defer cancel()
	id := p.Record.Invoke(history.Op{Workload: p.Workload, Process: p.ID, Node: p.Node, Call: "put", Key: key})
	_, err := p.Client.In(p.Scope).PutValue(ctx, agent.PutValue{Key: key, Bytes: value})
	switch agent.OutcomeOf(err) {
	case agent.Done:
		p.Record.Return(id, nil)
	case agent.Refused:
		p.Record.Fail(id, history.Refused, string(agent.CodeOf(err)), err.Error())
	case agent.Undecided:
		p.Record.Fail(id, history.Unknown, string(agent.CodeOf(err)), err.Error())
	}
}

// lastPulse returns when a pulse last succeeded.
func (t *tally) lastPulse() time.Duration { return time.Duration(t.pulse.Load()) }
