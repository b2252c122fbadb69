package instance

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// mailbox queues the calls of instances, and runs a worker for each instance
// with calls. It also hibernates idle instances.
type mailbox struct {
	*shared
	leases       *leases
	table        *table
	store        *store
	runner       *runner
	workers      sync.WaitGroup // one for each instance that has work
	shuttingDown bool           // guarded by mu
}

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
	started    bool            // it has left the mailbox; guarded by shared.mu
	span       trace.Span      // of the caller; nil means none
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

// callOf returns a call with the caller's span.
func callOf(ctx context.Context) *call {
	c := newCall()
	if span := trace.SpanFromContext(ctx); span.SpanContext().IsValid() {
		c.span = span
	}
	return c
}

// complete sends the result. It is called once.
func (c *call) complete(a callResult) { c.done <- a }

// submit queues a call for an instance. It creates the instance if wake is
// true, and fails with not_found otherwise. If the instance is awake, submit
// first calls direct, unless it is nil, with mu held. If direct returns true
// the call is done, and submit returns a nil instance.
func (mb *mailbox) submit(ctx context.Context, ref agent.InstanceRef, c *call, wake bool, direct func(*instance) bool) (*instance, error) {
	n := partitionOf(ref)
	if _, err := mb.leases.openPartition(n); err != nil {
		return nil, err
	}
	ms, err := mb.table.manager(ctx, ref.Scope, ref.Manager)
	if err != nil {
		return nil, err
	}
	mb.mu.Lock()
	defer mb.mu.Unlock()
	p, err := mb.leases.openPartition(n)
	if err == nil {
		_, err = mb.leases.leaseContext()
	}
	if err == nil && mb.shuttingDown {
		err = errStopping
	}
	if err != nil {
		return nil, err
	}
	ms = mb.table.canonical(ms)
	i := ms.instances[ref.Key]
	if i == nil && !wake {
		return nil, notAwake(ref)
	}
	if i, err = mb.getOrCreate(ms, ref.Key, p); err != nil {
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
	mb.enqueue(i, c)
	return i, nil
}

func notAwake(ref agent.InstanceRef) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "instance %q of manager %q is not awake", ref.Key, ref.Manager)
}

// enqueue puts a call into the mailbox and starts a worker if none runs. The
// caller holds mu.
func (mb *mailbox) enqueue(i *instance, c *call) {
	i.mailbox = append(i.mailbox, c)
	i.manager.idle.remove(i)
	if !i.working {
		i.working = true
		mb.workers.Add(1)
		go mb.runWorker(i)
	}
}

// await waits for the result of a call. If ctx ends before the call starts,
// await removes it: it was not handled. Otherwise the outcome is unknown.
func (mb *mailbox) await(ctx context.Context, i *instance, c *call) callResult {
	select {
	case a := <-c.done:
		return a
	case <-ctx.Done():
	}
	mb.mu.Lock()
	withdrawn := !c.started && i.removeCall(c)
	mb.mu.Unlock()
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
func (mb *mailbox) nextCall(i *instance) *call {
	mb.mu.Lock()
	defer mb.mu.Unlock()
	i.cancel, i.stopping = nil, false
	if i.removed == nil && len(i.mailbox) > 0 {
		c := i.mailbox[0]
		if i.mailbox = i.mailbox[1:]; len(i.mailbox) == 0 {
			i.mailbox = nil
		}
		c.started, i.stopping = true, c.stop
		mb.table.recount(i, c.statusReason())
		return c
	}
	mb.endWork(i)
	return nil
}

// finishCall ends a call. If no call waits and no restart delay remains, it ends
// the worker's work too and reports true. That happens before the caller gets
// the result, so the caller then sees the instance idle or removed. It takes mu.
func (mb *mailbox) finishCall(i *instance, c *call) (ended bool) {
	mb.mu.Lock()
	defer mb.mu.Unlock()
	mb.table.callDone(i, c)
	if len(i.mailbox) > 0 || mb.backoffLeft(i) > 0 {
		return false
	}
	i.cancel, i.stopping = nil, false
	mb.endWork(i)
	return true
}

// endWork marks an instance without waiting calls as not working. The caller
// holds mu.
func (mb *mailbox) endWork(i *instance) {
	i.working = false
	mb.table.recount(i, agent.ReasonFailed) // a failed stop leaves it awake
	mb.table.scheduleDue(i)
	mb.table.markIdle(i)
}

// callDone updates the instance after a call has left the mailbox. The caller
// holds mu.
func (tb *table) callDone(i *instance, c *call) {
	if c.background {
		i.hibernating = false
		tb.backgroundSaves--
		tb.recount(i, awakeReason(i))
	}
}

// getOrCreate returns the instance under a key in partition p, and creates it
// if necessary. The caller holds mu.
func (mb *mailbox) getOrCreate(ms *managerState, key string, p layout.Partition) (*instance, error) {
	i := ms.instances[key]
	if i != nil && i.epoch == p.Epoch {
		return i, nil
	}
	if i != nil {
		mb.table.drop(i, notOwner(p, mb.o.Node))
	}
	if err := mb.makeRoom(ms); err != nil {
		return nil, err
	}
	i = &instance{manager: ms, key: key, partition: p.ID, epoch: p.Epoch, status: agent.InstanceWaking, due: notDue}
	held := mb.table.partitions[p.ID]
	if held == nil || held.epoch != p.Epoch {
		if held != nil {
			for old := range held.instances {
				mb.table.drop(old, notOwner(p, mb.o.Node))
			}
		}
		held = &partitionInstances{epoch: p.Epoch, instances: map[*instance]struct{}{}}
		mb.table.partitions[p.ID] = held
	}
	held.instances[i] = struct{}{}
	ms.instances[key] = i
	mb.table.inMemory++
	mb.table.inScope[ms.scope]++
	mb.table.recount(i, agent.ReasonCalled)
	return i, nil
}
