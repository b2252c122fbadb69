package instance

import (
	"container/heap"
	"context"
	"time"

	"dormouse/agent"
)

// dueQueue is a heap of instances by the time of their next expiry: the idle
// timeout, or the end of an attachment. One timer serves all instances. An
// instance that is used keeps its position; processDue moves it when the old
// time comes.
type dueQueue struct{ items []*instance }

// duePosition is an instance's position in the queue.
type duePosition struct {
	at    time.Duration
	index int // -1 if it is not queued
}

var notDue = duePosition{index: -1}

// Len implements heap.Interface.
func (q *dueQueue) Len() int { return len(q.items) }

// Less implements heap.Interface.
func (q *dueQueue) Less(a, b int) bool { return q.items[a].due.at < q.items[b].due.at }

// Swap implements heap.Interface.
func (q *dueQueue) Swap(a, b int) {
	q.items[a], q.items[b] = q.items[b], q.items[a]
	q.items[a].due.index, q.items[b].due.index = a, b
}

// Push implements heap.Interface.
func (q *dueQueue) Push(x any) {
	i := x.(*instance) // only set pushes
	i.due.index = len(q.items)
	q.items = append(q.items, i)
}

// Pop implements heap.Interface.
func (q *dueQueue) Pop() any {
	last := len(q.items) - 1
	i := q.items[last]
	q.items[last] = nil
	q.items = q.items[:last]
	i.due = notDue
	return i
}

// set queues or moves an instance, and reports whether it is first.
func (q *dueQueue) set(i *instance, at time.Duration) bool {
	if i.due.index < 0 {
		i.due.at = at
		heap.Push(q, i)
	} else {
		i.due.at = at
		heap.Fix(q, i.due.index)
	}
	return i.due.index == 0
}

func (q *dueQueue) remove(i *instance) {
	if i.due.index >= 0 {
		heap.Remove(q, i.due.index)
	}
}

// dueAt returns the time of the instance's next expiry, or 0 for never.
func (i *instance) dueAt() time.Duration {
	at := time.Duration(0)
	for _, a := range i.attachments {
		if at == 0 || a.until < at {
			at = a.until
		}
	}
	if idle := i.manager.config.IdleTimeout; at == 0 && idle > 0 {
		at = i.usedAt + idle
	}
	return at
}

// idleLeft returns the time until the instance hibernates unless it is used, or 0
// if no idle timeout runs. The caller holds mu.
func (i *instance) idleLeft(now time.Duration) time.Duration {
	idle := i.manager.config.IdleTimeout
	if idle == 0 || i.status != agent.InstanceAwake || i.working || i.stopping || i.hibernating || len(i.attachments) > 0 {
		return 0
	}
	return max(0, i.usedAt+idle-now)
}

// scheduleDue queues an instance for its next expiry. The caller holds mu.
func (tb *table) scheduleDue(i *instance) {
	at := i.dueAt()
	if at == 0 || i.removed != nil || i.due.index >= 0 && i.due.at <= at {
		return
	}
	if tb.due.set(i, at) {
		notify(tb.earlierDue)
	}
}

// markUsed restarts the instance's idle timeout and stops a background
// hibernation. The caller holds mu.
func (tb *table) markUsed(i *instance) {
	i.usedAt, i.usedSince = tb.now(), true
	tb.scheduleDue(i)
}

// watchDue processes instances as they fall due, until ctx ends.
func (mb *mailbox) watchDue(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := mb.processDue()
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-mb.table.earlierDue:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// backgroundSavesMax is the maximum number of concurrent hibernations that the
// host starts itself. Instances above it wait for backgroundSaveRetry.
const (
	backgroundSavesMax  = 256
	backgroundSaveRetry = 50 * time.Millisecond
)

// processDue processes the instances that are due, and returns the time until
// the next one.
func (mb *mailbox) processDue() time.Duration {
	mb.mu.Lock()
	defer mb.mu.Unlock()
	now := mb.table.now()
	for mb.table.due.Len() > 0 {
		i := mb.table.due.items[0]
		if i.due.at > now {
			return i.due.at - now
		}
		i.expireAttachments(now)
		mb.table.recount(i, "")
		switch at := i.dueAt(); {
		case at == 0:
			mb.table.due.remove(i)
			mb.table.markIdle(i)
		case at > now:
			mb.table.due.set(i, at)
			mb.table.markIdle(i)
		case i.working: // endWork queues it again
			mb.table.due.remove(i)
		case !mb.startHibernation(i, lifecycleIdle):
			mb.table.due.set(i, now+backgroundSaveRetry)
		}
	}
	return time.Hour
}

// startHibernation hibernates an idle instance without a caller, and reports
// whether it did. It fails if too many hibernations are in progress. An
// instance that is stored hibernates at once. The caller holds mu.
func (mb *mailbox) startHibernation(i *instance, why lifecycle) bool {
	if !i.dirty() || i.body.service == nil {
		mb.table.count(i.manager, func(t *counters) { t.hibernated++ })
		mb.table.remove(i, errHibernated, string(why))
		return true
	}
	if mb.table.backgroundSaves >= backgroundSavesMax {
		return false
	}
	mb.table.backgroundSaves++
	c := newCall()
	c.hibernate, c.background = why, true
	i.hibernating, i.usedSince = true, false
	mb.table.recount(i, string(why))
	mb.table.due.remove(i)
	mb.enqueue(i, c)
	return true
}
