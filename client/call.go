package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"dormouse/agent"
	"dormouse/internal/retry"
	"dormouse/internal/seededbug"
	"dormouse/internal/tracing"
	apipb "dormouse/proto/api"
)

// Backoff between attempts; see package retry for the jitter.
const (
	backoffFirst = 20 * time.Millisecond
	backoffMost  = time.Second
)

// outcome is the result of a call.
type outcome struct {
	result  agent.Result
	answers agent.Answers
	err     *agent.Error
}

// failure returns err, with a nil *agent.Error as a nil error.
func (o outcome) failure() error {
	if o.err == nil {
		return nil
	}
	return o.err
}

// call is one commit or read, with all of its attempts. It has no goroutine: replies,
// timers and broken links drive it.
//
// Lock order: call.mu, pool.mu, link.mu. A pool and a link call back without holding
// their own lock.
type call struct {
	client  *Client
	ctx     context.Context      //nolint:containedctx // the caller's, with a deadline
	commit  *apipb.CommitRequest // either commit or read is set
	read    *apipb.ReadRequest
	done    func(agent.Result, error) // of Submit; nil if came is set
	came    chan outcome              // capacity 1: gets the outcome
	ttl     time.Duration             // of the request id, as given by the caller
	window  *requestWindow            // of the commit's number; nil if the caller set the request id
	started time.Time
	span    trace.Span      // below the caller's, if that is recorded
	trace   tracing.Context // of span, for the node
	end     time.Time       // the deadline of ctx, or the client's own

	place place // in one of the pool's queues; guarded by pool.mu

	mu        sync.Mutex
	settled   bool           // guarded by mu, like all fields below
	waited    bool           // it has been in one of the pool's queues
	undecided bool           // an attempt may have been applied
	last      *agent.Error   // error of the last attempt
	flight    *flight        // the current attempt
	attempts  int            // so far
	next      time.Time      // when tick is due
	timer     *time.Timer    // starts the next attempt, or ends the wait for a link; nil before the first wait
	backoff   *retry.Backoff // nil before the first wait
	unwatch   func() bool    // stops watching ctx; nil if ctx never ends

	first flight // of the first attempt: few calls have a second one
}

// wait starts the call, waits until it has its outcome, and returns that.
func (k *call) wait() outcome {
	came, _ := k.client.outcomes.Get().(chan outcome)
	if came == nil {
		came = make(chan outcome, 1)
	}
	k.came = came
	k.start()
	o := <-came
	k.client.outcomes.Put(came)
	return o
}

// report gives the outcome to the caller.
func (k *call) report(o outcome) {
	if k.commit != nil {
		k.client.release(k)
	}
	if k.done != nil {
		k.done(o.result, o.failure())
		return
	}
	k.came <- o
}

// clientSpan says that the span of a call is that of a client.
var clientSpan = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}

func newCall(c *Client, ctx context.Context, what string) *call { //nolint:revive // the client comes first: it is the receiver in spirit
	k := &call{client: c, started: time.Now()}
	k.ctx, k.span = tracing.Child(ctx, what, clientSpan...)
	k.trace = tracing.Of(k.ctx)
	end, ok := ctx.Deadline()
	if !ok {
		end = k.started.Add(c.o.Timeout)
	}
	k.end = end
	return k
}

// admit waits for a slot among the calls in flight. An error means that nothing was
// sent.
func (k *call) admit(room *semaphore.Weighted) error {
	if room.TryAcquire(1) {
		return nil
	}
	ctx, cancel := context.WithDeadline(k.ctx, k.end)
	defer cancel()
	if err := room.Acquire(ctx, 1); err != nil {
		err = neverSent(err)
		tracing.End(k.span, err)
		return err
	}
	return nil
}

func (k *call) start() {
	k.mu.Lock()
	if k.ctx.Done() != nil {
		k.unwatch = context.AfterFunc(k.ctx, k.ended)
	}
	k.finish(k.attempt())
}

// finish unlocks mu. If o is not nil and the call has no outcome yet, it reports o.
func (k *call) finish(o *outcome) {
	if o == nil || k.settled {
		k.mu.Unlock()
		return
	}
	k.settled = true
	k.client.count(k, o)
	if k.timer != nil {
		k.timer.Stop()
	}
	if k.unwatch != nil {
		k.unwatch()
	}
	if k.waited {
		k.client.pool.leave(k)
	}
	if k.flight != nil {
		k.flight.link.drop(k.flight)
		k.flight = nil
	}
	k.mu.Unlock()
	tracing.End(k.span, o.failure())
	k.report(*o)
}

// wakeIn sets the timer. The current attempt shares the timer of its link. mu is held.
func (k *call) wakeIn(d time.Duration) {
	k.next = time.Now().Add(d)
	if k.flight != nil {
		k.flight.link.wakeAt(k.flight, k.next)
		return
	}
	if k.timer == nil {
		k.timer = time.AfterFunc(d, k.tick)
		return
	}
	k.timer.Reset(d)
}

// tick ends the current attempt, or starts the next one.
func (k *call) tick() {
	k.mu.Lock()
	now := time.Now()
	if k.settled || now.Before(k.next) {
		k.mu.Unlock()
		return // the timer fired before a Reset took effect
	}
	f := k.flight
	if f != nil {
		f.extend(k.client.o.Attempt, k.end)
	}
	if f != nil && now.Before(f.until) {
		k.client.pool.look(f.link, f.since)
		k.wakeIn(min(f.until.Sub(now), k.client.o.Silence))
		k.mu.Unlock()
		return
	}
	if f != nil {
		k.lost(f)
		f.link.stalled(f.since, k.client.o.Silence)
		k.client.pool.markUnhealthy(f.link)
	}
	if !now.Before(k.end) {
		k.finish(k.expired())
		return
	}
	k.finish(k.attempt())
}

// resume is called by the pool: there is a link now.
func (k *call) resume() {
	k.mu.Lock()
	k.finish(k.attempt())
}

// ended is called when the context or the client ends.
func (k *call) ended() {
	k.mu.Lock()
	if f := k.flight; f != nil {
		k.lost(f)
		if errors.Is(k.ctx.Err(), context.Canceled) {
			k.last = agent.Errorf(agent.CodeUnavailable, "the caller cancelled the call before %s answered", f.link.addr)
		}
	}
	k.finish(k.expired())
}

// expired returns the outcome of a call that ran out of time. mu is held.
func (k *call) expired() *outcome {
	if seededbug.Is(seededbug.TimeoutAsRefused) {
		k.undecided, k.last = false, nil
	}
	why := "no node could be reached"
	if foreign := k.client.pool.foreignNode(); foreign != nil {
		why = foreign.Error()
	}
	if k.last != nil {
		why = k.last.Error()
	}
	switch {
	case k.commit != nil && k.undecided:
		return &outcome{err: agent.Errorf(agent.CodeUnknown, "not decided in time after %d attempts (%s); the commit may still apply", k.attempts, why)}
	case k.last != nil && agent.Retryable(k.last):
		return &outcome{err: k.last}
	case k.attempts == 0:
		return &outcome{err: agent.Errorf(agent.CodeUnavailable, "not sent in time: %s", why)}
	default:
		return &outcome{err: agent.Errorf(agent.CodeUnavailable, "no answer in time after %d attempts: %s", k.attempts, why)}
	}
}
