package client

import (
	"time"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/api/ops"
	"dormouse/internal/retry"
	"dormouse/internal/seededbug"
	apipb "dormouse/proto/api"
)

// attempt sends the call, or parks it until there is a link. mu is held.
func (k *call) attempt() *outcome {
	if k.settled || k.flight != nil {
		return nil
	}
	for {
		link, open := k.client.pool.pick(k)
		if !open {
			return k.expired()
		}
		now := time.Now()
		if link == nil {
			k.waited = true
			k.wakeIn(k.end.Sub(now)) // unless the pool resumes it
			return nil
		}
		wait := min(k.client.o.Attempt, k.end.Sub(now))
		if wait <= 0 {
			return k.expired()
		}
		f := &k.first
		if f.call != nil { // the writer may still use it
			f = &flight{}
		}
		f.call, f.link, f.since, f.until = k, link, now, now.Add(wait)
		if !k.message(&f.msg, now, wait) {
			return k.expired()
		}
		f.size = f.msg.EncodedSize()
		if f.size > convert.CallBytesMax && !k.undecided {
			return &outcome{err: agent.TooLarge("call", "call_bytes_max", f.size, convert.CallBytesMax)}
		}
		k.next = now.Add(min(wait, k.client.o.Silence))
		if link.enqueue(f, k.next) {
			k.attempts++
			k.flight = f
			return nil
		}
	}
}

// message fills in the next attempt's message. It returns false if the window of the
// request id is over.
func (k *call) message(m *apipb.Call, now time.Time, wait time.Duration) bool {
	m.TimeoutMs = uint64(max(1, wait.Milliseconds()))
	m.Traceparent, m.Tracestate = k.trace.Parent, k.trace.State
	if k.read != nil {
		m.Call = &apipb.Call_Read{Read: k.read}
		return true
	}
	commit := k.commit
	if k.attempts > 0 {
		ttl := k.ttl
		if ttl == 0 {
			ttl = agent.RequestTTLDefault
		}
		// Whole milliseconds, rounded down: never longer than the rest of the window.
		left := (ttl - now.Sub(k.started)).Milliseconds()
		if left <= 0 {
			return false
		}
		// A copy: the message of an earlier attempt may still be in use by the writer.
		r := &apipb.Request{Client: commit.Request.Client, Seq: commit.Request.Seq, Low: commit.Request.Low, TtlMs: uint64(left)}
		if k.window != nil {
			r.Low = k.window.lowest()
		}
		if seededbug.Is(seededbug.RetryWithFreshID) {
			r.Seq = k.client.commits.another(r.Seq)
		}
		commit = &apipb.CommitRequest{Scope: commit.Scope, Request: r, Fence: commit.Fence, Ops: commit.Ops}
	}
	m.Call = &apipb.Call_Commit{Commit: commit}
	return true
}

// extend lets the attempt last for d after the last part of a long message that came or went on its
// link, though not past end: on a slow connection a long message takes longer than an attempt, and another
// attempt would take as long.
func (f *flight) extend(d time.Duration, end time.Time) {
	until := f.link.moved().Add(d)
	if until.After(end) {
		until = end
	}
	if until.After(f.until) {
		f.until = until
	}
}

// lost records that f will not be answered. mu is held.
func (k *call) lost(f *flight) {
	if f.link.drop(f) {
		k.undecided = true
	}
	k.flight = nil
	k.last = agent.Errorf(agent.CodeUnavailable, "%s did not answer", f.link.addr)
}

// broken is called by the link: it broke before f was answered.
func (k *call) broken(f *flight, sent bool) {
	k.mu.Lock()
	if k.settled || k.flight != f {
		k.mu.Unlock()
		return
	}
	k.flight = nil
	k.undecided = k.undecided || sent
	k.last = agent.Errorf(agent.CodeUnavailable, "the connection to %s broke", f.link.addr)
	if k.attempts == 1 {
		k.finish(k.attempt()) // the first failure is the common one: retry at once
		return
	}
	k.finish(k.later(0))
}

// refused is called by the link: the node refused f's stream, and has not read f.
func (k *call) refused(f *flight, e *agent.Error) {
	k.replied(f, &apipb.Reply{Reply: &apipb.Reply_Error{Error: ops.ErrorToProto(e)}})
}

// replied is called by the link: f was answered.
func (k *call) replied(f *flight, reply *apipb.Reply) {
	k.mu.Lock()
	current := k.flight == f
	if current {
		k.flight = nil
	}
	if k.settled {
		k.mu.Unlock()
		return
	}
	o := k.understand(reply)
	if o.err == nil || o.err.Final {
		k.finish(&o) // a final answer counts, whichever attempt it belongs to
		return
	}
	if !current {
		k.mu.Unlock()
		return
	}
	var v verdict
	if k.read != nil {
		v = classifyRead(o.err)
	} else {
		v, k.undecided = classifyCommit(o.err, k.undecided)
	}
	k.last = o.err
	switch v {
	case settle:
		k.finish(&o)
	case elsewhere:
		k.client.pool.markUnhealthy(f.link)
		k.finish(k.later(0))
	case again:
		k.finish(k.later(time.Duration(o.err.RetryAfterMS) * time.Millisecond))
	}
}

// later schedules the next attempt, after atLeast or more. mu is held.
func (k *call) later(atLeast time.Duration) *outcome {
	if k.backoff == nil {
		k.backoff = retry.New(backoffFirst, backoffMost)
	}
	wait := k.backoff.Next()
	if atLeast > 0 {
		wait += atLeast
	}
	if !k.undecided && time.Until(k.end) <= wait {
		return k.expired() // not applied, and no time for another attempt: return now
	}
	k.waited = true
	if !k.client.pool.rest(k) {
		return k.expired()
	}
	k.wakeIn(min(wait, time.Until(k.end)))
	return nil
}

// understand converts a reply to an outcome.
func (k *call) understand(reply *apipb.Reply) (o outcome) {
	var err error
	switch r := reply.GetReply().(type) {
	case *apipb.Reply_Error:
		o.err = ops.ErrorFromProto(r.Error)
	case *apipb.Reply_Commit:
		o.result, err = convert.ResultFromProto(r.Commit)
	case *apipb.Reply_Read:
		o.answers, err = convert.AnswersFromProto(r.Read)
	}
	if err == nil && o.err == nil && (reply.GetCommit() != nil) != (k.commit != nil) {
		err = agent.Errorf(agent.CodeInternal, "the reply does not match the call")
	}
	if err != nil {
		o = outcome{err: agent.Errorf(agent.CodeInternal, "cannot decode the reply: %v", err)}
	}
	return o
}
