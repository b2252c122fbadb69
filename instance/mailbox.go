package instance

import (
	"context"
	"fmt"

	"dormouse/agent"
)

// mailboxRetryMS is the retry hint for callers of a full mailbox.
const mailboxRetryMS = 100

// call is one request to an instance. An instance handles its calls in order of
// arrival.
type call struct {
	signal     *agent.Signal        // handle it
	start      *agent.StartInstance // initial state of a fresh instance
	attach     *agent.Attach
	hibernate  lifecycle       // hibernate, for this reason
	stop       bool            // hibernate even with attachments
	background bool            // no caller waits; a later call cancels it
	started    bool            // it has left the mailbox; guarded by Host.mu
	done       chan callResult // capacity 1
}

// callResult is the result of a call.
type callResult struct {
	instance agent.Instance
	attached agent.Attached
	reply    agent.Reply
	err      error
}

func newCall() *call { return &call{done: make(chan callResult, 1)} }

// complete sends the result. It is called once.
func (c *call) complete(a callResult) { c.done <- a }

// submit queues a call for an instance. It creates the instance if wake is
// true, and fails with not_found otherwise. If the instance is awake, submit
// first calls direct, unless it is nil, with mu held. If direct returns true
// the call is done, and submit returns a nil instance.
func (h *Host) submit(ctx context.Context, ref agent.InstanceRef, c *call, wake bool, direct func(*instance) bool) (*instance, error) {
	n := partitionOf(ref)
	if _, err := h.openPartition(n); err != nil {
		return nil, err
	}
	ms, err := h.manager(ctx, ref.Scope, ref.Manager)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p, err := h.openPartition(n)
	if err == nil {
		_, err = h.leaseContext()
	}
	if err == nil && h.shuttingDown {
		err = errStopping
	}
	if err != nil {
		return nil, err
	}
	ms = h.canonical(ms)
	i := ms.instances[ref.Key]
	if i == nil && !wake {
		return nil, notAwake(ref)
	}
	if i, err = h.getOrCreate(ms, ref.Key, p); err != nil {
		return nil, err
	}
	if direct != nil && i.status == agent.InstanceAwake && !i.stopping && direct(i) {
		return nil, nil
	}
	if max := ms.config.Mailbox(); len(i.mailbox) >= max {
		e := agent.Errorf(agent.CodeOverloaded, "the instance's mailbox has %d calls, which is its maximum: retry later", max)
		e.Limit, e.RetryAfterMS = fmt.Sprintf("mailbox_max=%d", max), mailboxRetryMS
		return nil, e
	}
	h.enqueue(i, c)
	return i, nil
}

func notAwake(ref agent.InstanceRef) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "instance %q of manager %q is not awake", ref.Key, ref.Manager)
}

// enqueue puts a call into the mailbox and starts a worker if none runs. The
// caller holds mu.
func (h *Host) enqueue(i *instance, c *call) {
	i.mailbox = append(i.mailbox, c)
	i.manager.idle.remove(i)
	if !i.working {
		i.working = true
		h.workers.Add(1)
		go h.runWorker(i)
	}
}

// await waits for the result of a call. If ctx ends before the call starts,
// await removes it: it was not handled. Otherwise the outcome is unknown.
func (h *Host) await(ctx context.Context, i *instance, c *call) callResult {
	select {
	case a := <-c.done:
		return a
	case <-ctx.Done():
	}
	h.mu.Lock()
	withdrawn := !c.started && i.removeCall(c)
	h.mu.Unlock()
	select {
	case a := <-c.done: // it ended meanwhile
		return a
	default:
	}
	if withdrawn {
		return callResult{err: agent.Errorf(agent.CodeUnavailable, "the call ended before the instance handled it: %v", context.Cause(ctx))}
	}
	return callResult{err: agent.Errorf(agent.CodeUnknown, "the call ended while the instance handled it: the outcome is unknown")}
}

// removeCall removes a call from the mailbox, and reports whether it was there.
// The caller holds mu.
func (i *instance) removeCall(c *call) bool {
	for at, waiting := range i.mailbox {
		if waiting == c {
			i.mailbox = append(i.mailbox[:at:at], i.mailbox[at+1:]...)
			return true
		}
	}
	return false
}

// nextCall takes the next call from the mailbox and marks it as started. It
// returns nil and ends the worker's work if there is none, or if the instance
// was removed. It takes mu.
func (h *Host) nextCall(i *instance) *call {
	h.mu.Lock()
	defer h.mu.Unlock()
	i.cancel, i.stopping = nil, false
	if i.removed == nil && len(i.mailbox) > 0 {
		c := i.mailbox[0]
		if i.mailbox = i.mailbox[1:]; len(i.mailbox) == 0 {
			i.mailbox = nil
		}
		c.started, i.stopping = true, c.stop
		h.recount(i, c.statusReason())
		return c
	}
	h.endWork(i)
	return nil
}

// finishCall ends a call. If no call waits, it ends the worker's work too and
// reports true. That happens before the caller gets the result, so the caller
// then sees the instance idle or removed. It takes mu.
func (h *Host) finishCall(i *instance, c *call) (ended bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.callDone(i, c)
	if len(i.mailbox) > 0 || h.backoffLeft(i) > 0 {
		return false
	}
	i.cancel, i.stopping = nil, false
	h.endWork(i)
	return true
}

// endWork marks an instance without waiting calls as not working. The caller
// holds mu.
func (h *Host) endWork(i *instance) {
	i.working = false
	h.recount(i, agent.ReasonFailed) // a failed stop leaves it awake
	h.scheduleDue(i)
	h.markIdle(i)
}

// callDone updates the instance after a call has left the mailbox. The caller
// holds mu.
func (h *Host) callDone(i *instance, c *call) {
	if c.background {
		i.hibernating = false
		h.backgroundSaves--
		h.recount(i, awakeReason(i))
	}
}
