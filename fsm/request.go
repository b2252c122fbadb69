package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// request decides one commit, once: a commit with a request id that has been
// decided gets the same answer again, refusals too.
//
// The order is fixed: what is remembered comes before what has expired, and
// both before the fence, the quota and the ops.
//
// What a client's row promises: requests below low are settled and forgotten,
// none above max has been answered, and max - low < RequestWindowMax.
func (b *batch) request(p *logpb.Commit) (agent.Decided, error) {
	if p.Client == "" || seededbug.Is(seededbug.NoDedupe) {
		return b.decide(p)
	}
	if refusal := validRequest(p); refusal != nil {
		return refused(refusal), nil
	}
	client, err := b.client(p.Scope, p.Client)
	if err != nil {
		return agent.Decided{}, err
	}
	if client.known && p.Seq <= client.Max {
		decided, found, err := b.answered(p, client)
		if err != nil || found {
			return decided, err
		}
	}
	low := lowOf(client, p)
	switch {
	case p.Seq < client.Low:
		return refused(expiredRequest(p, fmt.Sprintf("it is below %d, which its client or time has settled", client.Low))), nil
	case p.NotAfterTick < b.Progress.Tick:
		return refused(expiredRequest(p, "it came too late")), nil
	case p.Seq-low >= agent.RequestWindowMax:
		return refused(windowRefusal(low)), nil
	}
	decided, err := b.decide(p)
	if err != nil {
		return agent.Decided{}, err
	}
	if decided.Err != nil && !decided.Err.Final { // "try again" is no answer to keep giving
		return decided, nil
	}
	return decided, b.remember(p, client, low, decided)
}

func validRequest(p *logpb.Commit) *agent.Error {
	if err := agent.ValidID("scope", p.Scope); err != nil {
		return agent.Invalid("scope", "%v", err)
	}
	if err := agent.ValidID("client", p.Client); err != nil {
		return agent.Invalid("request.client", "%v", err)
	}
	if p.Seq == 0 {
		return agent.Invalid("request.seq", "requests are numbered from 1")
	}
	return nil
}

// notAfter is the tick past which the request cannot apply, within reason.
func (b *batch) notAfter(p *logpb.Commit) uint64 {
	return min(p.NotAfterTick, txn.AddTicks(b.Progress.Tick, uint64(agent.RequestTTLMax.Milliseconds())))
}

// refused is a refusal. One that says "try again" is not final and never
// remembered, since another attempt of the same request may yet apply.
func refused(e *agent.Error) agent.Decided {
	e.Final = e.Code != agent.CodeOverloaded
	return agent.Decided{Err: e}
}

func expiredRequest(p *logpb.Commit, why string) *agent.Error {
	return agent.Errorf(agent.CodeRequestExpired, "cannot tell whether request %d of client %q was applied: %s", p.Seq, p.Client, why)
}

const windowRetryMS = 100

func windowRefusal(low uint64) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "%d answers wait for their client to acknowledge request %d", agent.RequestWindowMax, low)
	e.Limit = fmt.Sprintf("request_window_max=%d", agent.RequestWindowMax)
	e.RetryAfterMS = windowRetryMS
	return e
}

// lowOf is the client's low after a request. A client that is new may begin
// anywhere.
func lowOf(client *clientState, p *logpb.Commit) uint64 {
	low := max(client.Low, min(p.Low, p.Seq), 1)
	if !client.known && p.Seq >= agent.RequestWindowMax {
		low = max(low, p.Seq-agent.RequestWindowMax+1)
	}
	return low
}

// remember keeps an answer until its request can no longer apply, and lets go
// of those that the client has acknowledged.
func (b *batch) remember(p *logpb.Commit, client *clientState, low uint64, decided agent.Decided) error {
	outcome, err := command.EncodeOutcome(decided)
	if err != nil {
		return err
	}
	notAfter := b.notAfter(p)
	b.Rows.Begin() // what follows is not the commit's to roll back
	b.Rows.Count(len(outcome))
	client.answer(&logpb.Answer{Seq: p.Seq, BodyHash: p.BodyHash, Outcome: outcome}, notAfter)
	client.Low = low
	client.Max = max(client.Max, p.Seq)
	client.LastTick = max(client.LastTick, notAfter)
	if client.ReviewTick == 0 {
		b.reviewClient(p.Scope, p.Client, client, txn.AddTicks(notAfter, 1))
	}
	client.known, client.changed = true, true
	return nil
}

// reviewClient puts the client's row of the tick queue where it is due.
func (b *batch) reviewClient(scope, client string, row *clientState, tick uint64) {
	row.ReviewTick = tick
	b.Rows.Set(kv.DueTickKey(tick, scope, client), nil)
	b.Due.AtTick(tick)
}
