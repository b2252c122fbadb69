package instance

import (
	"context"
	"time"

	"dormouse/agent"
)

// runWorker handles the calls of an instance's mailbox until it is empty.
func (mb *mailbox) runWorker(i *instance) {
	defer mb.workers.Done()
	for {
		mb.backoffWait(i)
		c := mb.nextCall(i)
		if c == nil {
			return
		}
		end := mb.traceCall(i, c)
		a := mb.handleCall(i, c)
		end(a.err)
		ended := mb.finishCall(i, c)
		c.complete(a)
		if ended {
			return
		}
	}
}

// backoffLeft returns the rest of a crashed instance's restart delay.
func (mb *mailbox) backoffLeft(i *instance) time.Duration {
	if i.body.extra == nil {
		return 0
	}
	return max(0, i.body.extra.resumeAt-mb.table.now())
}

// backoffWait waits until a crashed instance may restart, or was removed.
func (mb *mailbox) backoffWait(i *instance) {
	wait := mb.backoffLeft(i)
	if wait == 0 {
		return
	}
	ctx, cancel, err := mb.store.workContext(i, wait)
	if err != nil {
		return // nextCall handles the removal
	}
	defer cancel()
	<-ctx.Done()
}

// handleCall handles one call.
func (mb *mailbox) handleCall(i *instance, c *call) callResult {
	if c.hibernate != "" {
		return callResult{err: mb.handleHibernate(i, c)}
	}
	if err := mb.store.checkActive(i); err != nil {
		return callResult{err: err}
	}
	_, woke, err := mb.runner.wake(i, c.start)
	if err != nil {
		return callResult{err: err}
	}
	if c.signal != nil {
		reply, err := mb.runner.runTurn(i, *c.signal)
		mb.mu.Lock()
		mb.table.markUsed(i)
		mb.mu.Unlock()
		return callResult{reply: reply, err: err}
	}
	mb.mu.Lock()
	defer mb.mu.Unlock()
	if c.attach != nil {
		attached, err := mb.table.attach(i, *c.attach)
		attached.Source = sourceOf(i, woke)
		return callResult{attached: attached, err: err}
	}
	mb.table.markUsed(i)
	found := mb.table.describe(i)
	found.Source = sourceOf(i, woke)
	return callResult{instance: found}
}

func sourceOf(i *instance, woke bool) agent.InstanceSource {
	if woke {
		return i.source
	}
	return agent.SourceAwake
}

// Delays before the restart of an instance that crashes repeatedly.
const (
	crashBackoffMin = 100 * time.Millisecond
	crashBackoffMax = 30 * time.Second
)

// crashed handles a panic or hang of a handler: the instance restarts from its
// newest checkpoint, after a delay that doubles with each crash.
func (rn *runner) crashed(i *instance) {
	rn.store.invalidate(i, agent.ReasonCrashed)
	r := i.ensureExtra()
	wait := crashBackoffMax
	if r.crashes < 16 {
		wait = min(crashBackoffMin<<r.crashes, crashBackoffMax)
	}
	r.crashes++
	r.resumeAt = rn.table.now() + wait
	rn.mu.Lock()
	rn.table.count(i.manager, func(t *counters) { t.crashed++ })
	rn.mu.Unlock()
	rn.o.Logger.Warn("an instance's handler crashed", "instance", i.String(), "in_a_row", r.crashes, "wait", wait)
}

// invalidate discards the instance's state in memory, including unsaved
// changes. The next call thaws it again. why is the reason for watchers.
func (st *store) invalidate(i *instance, why string) {
	st.mu.Lock()
	i.status = agent.InstanceWaking
	st.table.recount(i, why)
	st.mu.Unlock()
	initial, kept := i.body.initial, i.body.extra
	i.body = body{initial: initial}
	if kept != nil { // keep the crash count, the request ids, and the replies that are still true
		i.body.extra = &extra{run: kept.run, seq: kept.seq, crashes: kept.crashes, resumeAt: kept.resumeAt, recent: kept.repeatable()}
	}
}

// opTimeout is the timeout of the host's own reads and writes.
const opTimeout = 10 * time.Second

// withTimeout calls f with a context for the instance's work that ends after
// opTimeout.
func (st *store) withTimeout(i *instance, f func(ctx context.Context) error) error {
	ctx, cancel, err := st.workContext(i, opTimeout)
	if err != nil {
		return err
	}
	defer cancel()
	return f(ctx)
}
