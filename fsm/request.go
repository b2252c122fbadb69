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

// request decides one commit once: a retry with a decided request id gets the same answer again,
// also a refusal.
//
// The order is fixed: first remembered answers, then expiry, then the fence, the quota and the ops.
//
// Invariants of a client's row: requests below low are settled and forgotten, no request above max
// has been answered, and max - low < RequestWindowMax.
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
	if decided.Err != nil && !decided.Err.Final { // "retry" must not become the remembered answer
		return decided, nil
	}
	b.remember(p, client, low, decided)
	return decided, nil
}

func validRequest(p *logpb.Commit) *agent.Error {
	if err := agent.ValidKey("scope", p.Scope); err != nil {
		return agent.Invalid("scope", "%v", err)
	}
	if err := agent.ValidKey("client", p.Client); err != nil {
		return agent.Invalid("request.client", "%v", err)
	}
	if p.Seq == 0 {
		return agent.Invalid("request.seq", "requests are numbered from 1")
	}
	return nil
}

// notAfter returns the tick after which the request cannot apply, at most RequestTTLMax ahead.
func (b *batch) notAfter(p *logpb.Commit) uint64 {
	return min(p.NotAfterTick, txn.AddTicks(b.Progress.Tick, uint64(agent.RequestTTLMax.Milliseconds())))
}

// refused returns a refusal. An overloaded or exceeded limit is not final and never remembered,
// because a retry of the same request may apply.
func refused(e *agent.Error) agent.Decided {
	e.Final = e.Code != agent.CodeOverloaded && e.Code != agent.CodeQuotaExceeded
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

// lowOf returns the client's low after a request. A new client may begin at any number.
func lowOf(client *clientState, p *logpb.Commit) uint64 {
	low := max(client.Low, min(p.Low, p.Seq), 1)
	if !client.known && p.Seq >= agent.RequestWindowMax {
		low = max(low, p.Seq-agent.RequestWindowMax+1)
	}
	return low
}

// remember keeps an answer until its request can no longer apply, and removes those that the client
// has acknowledged.
func (b *batch) remember(p *logpb.Commit, client *clientState, low uint64, decided agent.Decided) {
	outcome := b.outcome
	if decided.Err != nil {
		outcome = command.EncodeOutcome(decided)
	}
	notAfter := b.notAfter(p)
	b.Rows.Begin() // the rows that follow are not rolled back with the commit
	b.Rows.Count(len(outcome))
	client.answer(&logpb.Answer{Seq: p.Seq, BodyHash: p.BodyHash, Outcome: outcome}, notAfter)
	client.Low = low
	client.Max = max(client.Max, p.Seq)
	client.LastTick = max(client.LastTick, notAfter)
	if client.ReviewTick == 0 {
		b.reviewClient(p.Scope, p.Client, client, txn.AddTicks(notAfter, 1))
	}
	client.known, client.changed = true, true
}

// reviewClient adds the client to the tick queue.
func (b *batch) reviewClient(scope, client string, row *clientState, tick uint64) {
	row.ReviewTick = tick
	b.Rows.Set(kv.DueTickKey(tick, scope, client), nil)
	b.Due.AtTick(tick)
}
