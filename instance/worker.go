package instance

import (
	"context"
	"time"

	"dormouse/agent"
)

// runWorker works off an instance's mailbox, and ends when it is empty.
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

// backoffLeft is how long an instance that crashed waits yet before it starts again.
func (h *Host) backoffLeft(i *instance) time.Duration {
	if i.body.extra == nil {
		return 0
	}
	return max(0, i.body.extra.resumeAt-h.now())
}

// backoffWait waits until an instance that crashed may start again, or is gone.
func (h *Host) backoffWait(i *instance) {
	wait := h.backoffLeft(i)
	if wait == 0 {
		return
	}
	ctx, cancel, err := h.workContext(i, wait)
	if err != nil {
		return // next finds out
	}
	defer cancel()
	<-ctx.Done()
}

// handleCall does what a letter asks for.
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

// Waits between the starts of an instance that crashes again and again.
const (
	crashBackoffMin = 100 * time.Millisecond
	crashBackoffMax = 30 * time.Second
)

// crashed notes that a handler panicked or hangs: the instance starts again from
// its newest checkpoint, later each time.
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

// invalidate has the instance thawed again before anything else happens in it. What
// was not saved is lost. why is what those who watch are told.
func (h *Host) invalidate(i *instance, why string) {
	h.mu.Lock()
	i.status = agent.InstanceWaking
	h.recount(i, why)
	h.mu.Unlock()
	initial, kept := i.body.initial, i.body.extra
	i.body = body{initial: initial}
	if kept != nil { // crashes count on, and its requests' numbers are never used again
		i.body.extra = &extra{run: kept.run, seq: kept.seq, crashes: kept.crashes, resumeAt: kept.resumeAt, recent: kept.recent}
	}
}

// opTimeout is how long reads and writes of the host's own may take.
const opTimeout = 10 * time.Second

// withTimeout runs f under a context for the instance's own work, within deadline.
func (h *Host) withTimeout(i *instance, f func(ctx context.Context) error) error {
	ctx, cancel, err := h.workContext(i, opTimeout)
	if err != nil {
		return err
	}
	defer cancel()
	return f(ctx)
}
