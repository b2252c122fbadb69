package instance

import (
	"context"
	"fmt"

	"dormouse/agent"
)

// mailboxRetryMS is when to come back to a full mailbox.
const mailboxRetryMS = 100

// call is what an instance is asked for, in the order in which it came.
type call struct {
	signal     *agent.Signal        // one to handle
	start      *agent.StartInstance // what a fresh instance begins with
	attach     *agent.Attach
	hibernate  lifecycle       // hibernate, for this reason
	stop       bool            // …and end, whoever is attached
	background bool            // …nobody waits for it, and it yields to whoever comes
	started    bool            // it is out of the mailbox; guarded by Host.mu
	done       chan callResult // of one
}

// callResult is what came of a letter.
type callResult struct {
	instance agent.Instance
	attached agent.Attached
	reply    agent.Reply
	err      error
}

func newCall() *call { return &call{done: make(chan callResult, 1)} }

// complete is called once.
func (c *call) complete(a callResult) { c.done <- a }

// submit puts a letter into the mailbox of the instance, which is made where
// there is none and wake says so. direct, if given, is tried first, under mu:
// it answers at once where it can.
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
		e := agent.Errorf(agent.CodeOverloaded, "%d calls wait for the instance already: come back later", max)
		e.Limit, e.RetryAfterMS = fmt.Sprintf("mailbox_max=%d", max), mailboxRetryMS
		return nil, e
	}
	h.enqueue(i, c)
	return i, nil
}

func notAwake(ref agent.InstanceRef) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "instance %q of manager %q is not awake", ref.Key, ref.Manager)
}

// enqueue puts a letter into the mailbox. mu is held.
func (h *Host) enqueue(i *instance, c *call) {
	i.mailbox = append(i.mailbox, c)
	i.manager.idle.remove(i)
	if !i.working {
		i.working = true
		h.workers.Add(1)
		go h.runWorker(i)
	}
}

// await waits for the answer to a letter. One that has not been begun when ctx
// ends is taken back: surely not handled. Otherwise nobody can tell yet.
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
	case a := <-c.done: // just now
		return a
	default:
	}
	if withdrawn {
		return callResult{err: agent.Errorf(agent.CodeUnavailable, "the call ended before the instance came to it: %v", context.Cause(ctx))}
	}
	return callResult{err: agent.Errorf(agent.CodeUnknown, "the call ended while it was being handled: it may yet apply")}
}

// removeCall takes a letter out of the mailbox, and tells whether it was there.
// mu is held.
func (i *instance) removeCall(c *call) bool {
	for at, waiting := range i.mailbox {
		if waiting == c {
			i.mailbox = append(i.mailbox[:at:at], i.mailbox[at+1:]...)
			return true
		}
	}
	return false
}

// nextCall is the letter that comes next, begun; nil where there is none, and the
// instance rests or is gone. mu is not held.
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

// finishCall notes that a letter is worked off. Where none waits the worker ends
// before the answer is told, so that whoever hears it finds the instance at
// rest, or gone. mu is not held.
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

// endWork ends the work of an instance for which no letter waits. mu is held.
func (h *Host) endWork(i *instance) {
	i.working = false
	h.recount(i, agent.ReasonFailed) // one that was to stop is awake still
	h.scheduleDue(i)
	h.markIdle(i)
}

// callDone notes that a letter is out of the mailbox for good. mu is held.
func (h *Host) callDone(i *instance, c *call) {
	if c.background {
		i.hibernating = false
		h.backgroundSaves--
		h.recount(i, awakeReason(i))
	}
}
