package instance

import (
	"context"
	"time"

	"dormouse/agent"
)

// work works off an instance's mailbox, and ends when it is empty.
func (h *Host) work(i *instance) {
	defer h.workers.Done()
	for {
		h.cool(i)
		l := h.next(i)
		if l == nil {
			return
		}
		a := h.handle(i, l)
		ended := h.finish(i, l)
		l.answer(a)
		if ended {
			return
		}
	}
}

// heat is how long an instance that crashed waits yet before it starts again.
func (h *Host) heat(i *instance) time.Duration {
	if i.body.rare == nil {
		return 0
	}
	return max(0, i.body.rare.resume-h.now())
}

// cool waits until an instance that crashed may start again, or is gone.
func (h *Host) cool(i *instance) {
	wait := h.heat(i)
	if wait == 0 {
		return
	}
	ctx, cancel, err := h.context(i, wait)
	if err != nil {
		return // next finds out
	}
	defer cancel()
	<-ctx.Done()
}

// handle does what a letter asks for.
func (h *Host) handle(i *instance, l *letter) answer {
	if l.sleep != "" {
		return answer{err: h.sleepLetter(i, l)}
	}
	if err := h.stands(i); err != nil {
		return answer{err: err}
	}
	_, woke, err := h.wake(i, l.start)
	if err != nil {
		return answer{err: err}
	}
	if l.signal != nil {
		reply, err := h.turn(i, *l.signal)
		h.mu.Lock()
		h.use(i)
		h.mu.Unlock()
		return answer{reply: reply, err: err}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.attach != nil {
		attached, err := h.attach(i, *l.attach)
		attached.Source = sourceOf(i, woke)
		return answer{attached: attached, err: err}
	}
	h.use(i)
	found := h.view(i)
	found.Source = sourceOf(i, woke)
	return answer{instance: found}
}

func sourceOf(i *instance, woke bool) agent.InstanceSource {
	if woke {
		return i.source
	}
	return agent.SourceAwake
}

// Waits between the starts of an instance that crashes again and again.
const (
	crashFirst = 100 * time.Millisecond
	crashMost  = 30 * time.Second
)

// crashed notes that a handler panicked or hangs: the instance starts again from
// its newest checkpoint, later each time.
func (h *Host) crashed(i *instance) {
	h.forget(i, agent.ReasonCrashed)
	r := i.more()
	wait := crashMost
	if r.crashes < 16 {
		wait = min(crashFirst<<r.crashes, crashMost)
	}
	r.crashes++
	r.resume = h.now() + wait
	h.mu.Lock()
	h.count(i.family, func(t *tally) { t.crashed++ })
	h.mu.Unlock()
	h.o.Logger.Warn("an instance's handler crashed", "instance", i.String(), "in_a_row", r.crashes, "wait", wait)
}

// forget has the instance thawed again before anything else happens in it. What
// was not saved is lost. why is what those who watch are told.
func (h *Host) forget(i *instance, why string) {
	h.mu.Lock()
	i.status = agent.InstanceWaking
	h.recount(i, why)
	h.mu.Unlock()
	initial, kept := i.body.initial, i.body.rare
	i.body = body{initial: initial}
	if kept != nil { // crashes count on, and its requests' numbers are never used again
		i.body.rare = &rare{client: kept.client, seq: kept.seq, crashes: kept.crashes, resume: kept.resume, recent: kept.recent}
	}
}

// deadline is how long reads and writes of the host's own may take.
const deadline = 10 * time.Second

// within runs f under a context for the instance's own work, within deadline.
func (h *Host) within(i *instance, f func(ctx context.Context) error) error {
	ctx, cancel, err := h.context(i, deadline)
	if err != nil {
		return err
	}
	defer cancel()
	return f(ctx)
}
