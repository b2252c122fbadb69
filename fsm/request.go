package fsm

import (
	"fmt"
	"math"

	"dormouse/agent"
	"dormouse/internal/planted"
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
	if p.Client == "" || planted.Is(planted.NoDedupe) {
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
		decided, found, err := b.answered(p)
		if err != nil || found {
			return decided, err
		}
	}
	low := lowOf(client, p)
	switch {
	case p.Seq < client.Low:
		return refused(expiredRequest(p, fmt.Sprintf("it is below %d, which its client or time has settled", client.Low))), nil
	case p.NotAfterTick < b.progress.tick:
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
	return min(p.NotAfterTick, later(b.progress.tick, uint64(agent.RequestTTLMax.Milliseconds())))
}

// later adds without running over.
func later(tick, by uint64) uint64 {
	if sum := tick + by; sum >= tick {
		return sum
	}
	return math.MaxUint64
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

// client is what is known of a client: the entry's own copy, to be changed in
// place. storeClients writes it.
func (b *batch) client(scope, client string) (row *clientState, err error) {
	key := idKey(kindClient, scope, client)
	if row, ok := b.clients[key]; ok {
		return row, nil
	}
	row = &clientState{}
	raw, err := b.rows.get(key)
	if err != nil {
		return nil, err
	}
	if raw != nil {
		if err := unmarshal(raw, &row.ClientRow); err != nil {
			return nil, fmt.Errorf("decode client %q: %w", client, err)
		}
		row.known = true
	}
	b.clients[key] = row
	return row, nil
}

// clientState is a client's row while an entry is applied.
type clientState struct {
	logpb.ClientRow
	known   bool
	changed bool
}

// storeClients writes the clients that the entry has changed.
func (b *batch) storeClients() error {
	for key, row := range b.clients {
		switch {
		case !row.changed:
			continue
		case !row.known:
			b.rows.remove(key)
			continue
		}
		raw, err := marshal(&row.ClientRow)
		if err != nil {
			return fmt.Errorf("encode client %q: %w", key, err)
		}
		b.rows.set(key, raw)
	}
	return nil
}

// answered looks for the answer that the request got before.
func (b *batch) answered(p *logpb.Commit) (decided agent.Decided, found bool, err error) {
	raw, err := b.rows.get(answerKey(p.Scope, p.Client, p.Seq))
	if err != nil || raw == nil {
		return agent.Decided{}, false, err
	}
	var row logpb.AnswerRow
	if err := unmarshal(raw, &row); err != nil {
		return agent.Decided{}, false, fmt.Errorf("decode answer %d of client %q: %w", p.Seq, p.Client, err)
	}
	if row.BodyHash != p.BodyHash {
		e := agent.Errorf(agent.CodeIdempotencyMismatch, "request %d of client %q was another commit", p.Seq, p.Client)
		return refused(e), true, nil
	}
	decided, err = decodeOutcome(row.Outcome)
	return decided, true, err
}

// remember keeps an answer until its request can no longer apply, and lets go
// of those that the client has acknowledged.
func (b *batch) remember(p *logpb.Commit, client *clientState, low uint64, decided agent.Decided) error {
	outcome, err := encodeOutcome(decided)
	if err != nil {
		return err
	}
	notAfter := b.notAfter(p)
	answer := logpb.AnswerRow{BodyHash: p.BodyHash, NotAfterTick: notAfter, Outcome: outcome}
	raw, err := marshal(&answer)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	b.rows.begin() // what follows is not the commit's to roll back
	if p.Seq >= low {
		b.rows.set(answerKey(p.Scope, p.Client, p.Seq), raw)
	}
	if err := b.forget(p.Scope, p.Client, client, low); err != nil {
		return err
	}
	client.Low = low
	client.Max = max(client.Max, p.Seq)
	client.LastTick = max(client.LastTick, notAfter)
	if client.ReviewTick == 0 {
		b.reviewClient(p.Scope, p.Client, client, later(notAfter, 1))
	}
	client.known, client.changed = true, true
	return nil
}

// forgetPointsMax is how many answers are deleted without looking whether they
// are there.
const forgetPointsMax = 16

// forget deletes the answers below low. At most RequestWindowMax are there.
func (b *batch) forget(scope, client string, row *clientState, low uint64) error {
	end := min(low, row.Max+1)
	if row.Low >= end {
		return nil
	}
	if end-row.Low > forgetPointsMax {
		return b.rows.removeRange(answerKey(scope, client, row.Low), answerKey(scope, client, end))
	}
	for seq := row.Low; seq < end; seq++ {
		b.rows.remove(answerKey(scope, client, seq))
	}
	return nil
}

// reviewClient puts the client's row of the tick queue where it is due.
func (b *batch) reviewClient(scope, client string, row *clientState, tick uint64) {
	row.ReviewTick = tick
	b.rows.set(dueTickKey(tick, scope, client), nil)
	b.due.atTick(tick)
}

// review lets go of a client's answers whose requests have expired, at most
// limit of them, and of the client where none are left. It returns how many.
func (b *batch) review(scope, client string, limit int) (int, error) {
	row, err := b.client(scope, client)
	if err != nil || !row.known {
		return 0, err
	}
	row.changed = true
	prefix := idKey(kindAnswer, scope, client)
	keys, more, err := b.rows.keys(prefix, after(prefix), limit)
	if err != nil {
		return 0, err
	}
	done := 0
	for _, key := range keys {
		raw, err := b.rows.get(key)
		if err != nil {
			return 0, err
		}
		var answer logpb.AnswerRow
		if err := unmarshal(raw, &answer); err != nil {
			return 0, fmt.Errorf("decode an answer of client %q: %w", client, err)
		}
		if answer.NotAfterTick >= b.progress.tick {
			b.reviewClient(scope, client, row, later(answer.NotAfterTick, 1))
			return done, nil
		}
		b.rows.remove(key)
		row.Low = max(row.Low, decodeNumber(key[len(prefix):])+1)
		done++
	}
	switch {
	case more: // go on in the next entry
		b.reviewClient(scope, client, row, b.progress.tick)
	case row.LastTick >= b.progress.tick: // low still guards what was acknowledged
		b.reviewClient(scope, client, row, later(row.LastTick, 1))
	default:
		*row = clientState{changed: true}
	}
	return done, nil
}
