package instance

import (
	"context"
	"time"

	"dormouse/agent"
)

// runWorker handles the calls of an instance's mailbox until it is empty.
func (h *Host) runWorker(i *instance) {
	defer h.workers.Done()
	for {
		h.backoffWait(i)
		c := h.nextCall(i)
		if c == nil {
			return
		}
		a := h.handleCall(i, c)
		ended := h.finishCall(i, c)
		c.complete(a)
		if ended {
			return
		}
	}
}

// backoffLeft returns the rest of a crashed instance's restart delay.
func (h *Host) backoffLeft(i *instance) time.Duration {
	if i.body.extra == nil {
		return 0
	}
	return max(0, i.body.extra.resumeAt-h.now())
}

// backoffWait waits until a crashed instance may restart, or was removed.
func (h *Host) backoffWait(i *instance) {
	wait := h.backoffLeft(i)
	if wait == 0 {
		return
	}
	ctx, cancel, err := h.workContext(i, wait)
	if err != nil {
		return // nextCall handles the removal
	}
	defer cancel()
	<-ctx.Done()
}

// handleCall handles one call.
func (h *Host) handleCall(i *instance, c *call) callResult {
	if c.hibernate != "" {
		return callResult{err: h.handleHibernate(i, c)}
	}
	if err := h.checkActive(i); err != nil {
		return callResult{err: err}
	}
	_, woke, err := h.wake(i, c.start)
	if err != nil {
		return callResult{err: err}
	}
	if c.signal != nil {
		reply, err := h.runTurn(i, *c.signal)
		h.mu.Lock()
		h.markUsed(i)
		h.mu.Unlock()
		return callResult{reply: reply, err: err}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.attach != nil {
		attached, err := h.attach(i, *c.attach)
		attached.Source = sourceOf(i, woke)
		return callResult{attached: attached, err: err}
	}
	h.markUsed(i)
	found := h.describe(i)
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
func (h *Host) crashed(i *instance) {
	h.invalidate(i, agent.ReasonCrashed)
	r := i.ensureExtra()
	wait := crashBackoffMax
	if r.crashes < 16 {
		wait = min(crashBackoffMin<<r.crashes, crashBackoffMax)
	}
	r.crashes++
	r.resumeAt = h.now() + wait
	h.mu.Lock()
	h.count(i.manager, func(t *counters) { t.crashed++ })
	h.mu.Unlock()
	h.o.Logger.Warn("an instance's handler crashed", "instance", i.String(), "in_a_row", r.crashes, "wait", wait)
}

// invalidate discards the instance's state in memory, including unsaved
// changes. The next call thaws it again. why is the reason for watchers.
func (h *Host) invalidate(i *instance, why string) {
	h.mu.Lock()
	i.status = agent.InstanceWaking
	h.recount(i, why)
	h.mu.Unlock()
	initial, kept := i.body.initial, i.body.extra
	i.body = body{initial: initial}
	if kept != nil { // keep the crash count and the request ids
		i.body.extra = &extra{run: kept.run, seq: kept.seq, crashes: kept.crashes, resumeAt: kept.resumeAt, recent: kept.recent}
	}
}

// opTimeout is the timeout of the host's own reads and writes.
const opTimeout = 10 * time.Second

// withTimeout calls f with a context for the instance's work that ends after
// opTimeout.
func (h *Host) withTimeout(i *instance, f func(ctx context.Context) error) error {
	ctx, cancel, err := h.workContext(i, opTimeout)
	if err != nil {
		return err
	}
	defer cancel()
	return f(ctx)
}
